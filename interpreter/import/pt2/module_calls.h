#pragma once

#include <boxcar/interpreter/import/pt2/exported_program.h>
#include <boxcar/interpreter/import/pt2/value_table.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

// The calls of a model's modules, as a tree over the nodes of its graph.

namespace boxcar::interp::pt2 {

struct ModuleCall;

// A node, or a call of a module that has several.
struct CallItem {
  size_t node = 0;                   // its position in the graph, if it is a node
  std::unique_ptr<ModuleCall> call;  // null if it is a node
};

struct ModuleCall {
  std::string path;  // of the module in the model, "layer1.0"; empty for the model itself
  std::string type;  // of the module, "torchvision.models.resnet.BasicBlock"
  std::vector<CallItem> items;
  size_t begin = 0;  // its nodes are [begin, end)
  size_t end = 0;
};

// Returns the tree for the nodes of [graph] that are needed. Calls of containers, and those that are too short for a
// function of their own, are left out: what they hold belongs to the call around them.
ModuleCall moduleCalls(const Graph& graph, const ValueTable& values);

// Returns a path without the number that tells further calls of a module apart: "fc@1" is "fc".
std::string_view withoutCallNumber(std::string_view path);

}  // namespace boxcar::interp::pt2
