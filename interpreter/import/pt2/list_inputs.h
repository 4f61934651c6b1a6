#pragma once

#include <boxcar/interpreter/import/pt2/exported_program.h>
#include <boxcar/interpreter/import/pt2/module_calls.h>
#include <boxcar/interpreter/import/pt2/value_table.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

// Modules that take a list of tensors. An exported program has its tensors one by one.

namespace boxcar::interp::pt2 {

// Returns the tensors that [call] takes only as a list: an operator's list is made of them, and nothing else uses them.
// [is_weight] tells what the call has without taking it. Empty if there is no such list.
std::vector<std::string> listInput(const Graph& graph, const ValueTable& values, const ModuleCall& call,
                                   const std::function<bool(const std::string&)>& is_weight);

// Returns the types of modules whose calls take such lists of different lengths.
std::set<std::string, std::less<>> typesOfListInputs(const Graph& graph, const ValueTable& values,
                                                     const ModuleCall& root,
                                                     const std::function<bool(const std::string&)>& is_weight);

}  // namespace boxcar::interp::pt2
