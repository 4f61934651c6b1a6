#include <boxcar/interpreter/import/pt2/layer_text.h>
#include <boxcar/interpreter/import/pt2/node_text.h>

#include <algorithm>
#include <string_view>

namespace boxcar::interp::pt2 {
namespace {

struct Layer {
  std::string_view target;
  std::string_view function;
  std::string_view input;
  // The arguments that are weights of the module, and their names there.
  std::vector<std::pair<std::string_view, std::string_view>> weights;
  bool may_lack_bias;
  std::vector<std::string_view> options;  // passed on
  std::vector<std::string_view> ignored;  // what changes nothing
};

const std::vector<Layer>& layers() {
  static const std::vector<Layer> all = {
      {"torch.ops.aten.linear.default",
       "linear_layer",
       "input",
       {{"weight", "weight"}, {"bias", "bias"}},
       true,
       {},
       {}},
      {"torch.ops.aten.conv2d.default",
       "conv2d_layer",
       "input",
       {{"weight", "weight"}, {"bias", "bias"}},
       true,
       {"stride", "padding", "dilation", "groups"},
       {}},
      {"torch.ops.aten.layer_norm.default",
       "layer_norm_layer",
       "input",
       {{"weight", "weight"}, {"bias", "bias"}},
       false,
       {"eps"},
       {"normalized_shape", "cudnn_enable"}},
      {"torch.ops.aten.batch_norm.default",
       "batch_norm_layer",
       "input",
       {{"weight", "weight"}, {"bias", "bias"}, {"running_mean", "running_mean"}, {"running_var", "running_var"}},
       false,
       {"training", "momentum", "eps"},
       {"cudnn_enabled"}},
      {"torch.ops.aten.embedding.default", "embedding_layer", "indices", {{"weight", "weight"}}, false, {}, {}},
  };
  return all;
}

bool isDefaultOption(std::string_view option, const Argument& value) {
  if (option == "momentum") return value.kind == Argument::Kind::Float && value.number == 0.1;
  return option == "eps" && value.kind == Argument::Kind::Float && value.number == 1e-5;
}

}  // namespace

std::optional<LayerCall> layerCall(const Node& node,
                                   const std::function<const std::string*(const std::string&)>& weight_of,
                                   const std::function<bool(const std::string&)>& has_weight) {
  const auto found = std::ranges::find(layers(), node.target, &Layer::target);
  if (found == layers().end()) return std::nullopt;
  const Layer& layer = *found;
  LayerCall call{.function = layer.function, .input = NodeText::find(node, layer.input), .module = {}, .options = {}};
  if (call.input == nullptr || call.input->kind != Argument::Kind::Value || weight_of(call.input->text) != nullptr) {
    return std::nullopt;
  }
  for (const auto& [argument, name] : layer.weights) {
    const Argument* const value = NodeText::find(node, argument);
    if (value == nullptr || value->kind == Argument::Kind::None) {
      // The layer looks whether there is a bias.
      if (name != "bias" || !layer.may_lack_bias || has_weight(call.module + ".bias")) return std::nullopt;
      continue;
    }
    const std::string* const key = value->kind == Argument::Kind::Value ? weight_of(value->text) : nullptr;
    if (key == nullptr || !key->ends_with(name) || key->size() < name.size() + 2) return std::nullopt;
    const std::string module = key->substr(0, key->size() - name.size() - 1);
    if ((*key)[module.size()] != '.' || (!call.module.empty() && call.module != module)) return std::nullopt;
    call.module = module;
  }
  if (layer.function == "layer_norm_layer") {
    const Argument* const shape = NodeText::find(node, "normalized_shape");
    if (shape == nullptr || shape->items.size() != 1) return std::nullopt;
  }
  const bool is_convolution = layer.function == "conv2d_layer";
  for (const NamedArgument& input : node.inputs) {
    const std::string_view name = input.name;
    const bool is_weight = std::ranges::any_of(layer.weights, [&](const auto& each) { return each.first == name; });
    if (is_weight || name == layer.input || std::ranges::find(layer.ignored, name) != layer.ignored.end()) continue;
    if (std::ranges::find(layer.options, name) == layer.options.end()) return std::nullopt;
    if (!is_convolution && !isDefaultOption(name, input.value)) call.options.emplace_back(name, &input.value);
  }
  if (is_convolution) {
    for (const std::string_view option : layer.options) call.options.emplace_back(option, NodeText::find(node, option));
  }
  return call;
}

}  // namespace boxcar::interp::pt2
