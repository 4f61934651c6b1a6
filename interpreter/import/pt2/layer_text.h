#pragma once

#include <boxcar/interpreter/import/pt2/exported_program.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace boxcar::interp::pt2 {

// A call of a layer of nn.ops that does what a node does.
struct LayerCall {
  std::string_view function;  // "linear_layer"
  const Argument* input;
  std::string module;  // whose weights it takes: "layer1.0.conv1"
  // Null: left to its default. Only options in which modules often differ are given then.
  std::vector<std::pair<std::string_view, const Argument*>> options;
};

// Returns it; nothing if there is none. [weight_of] gives the key of the weight that a value is, or null; [has_weight]
// tells whether there is a weight of that key.
std::optional<LayerCall> layerCall(const Node& node,
                                   const std::function<const std::string*(const std::string&)>& weight_of,
                                   const std::function<bool(const std::string&)>& has_weight);

}  // namespace boxcar::interp::pt2
