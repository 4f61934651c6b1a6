#include <boxcar/interpreter/import/pt2/node_text.h>
#include <boxcar/interpreter/import/pt2/recompose.h>
#include <boxcar/interpreter/import/pt2/value_table.h>
#include <boxcar/schema/function_schema.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace boxcar::interp::pt2 {
namespace {

constexpr std::string_view kCore = "torch.ops.aten.";

bool isValue(const Argument* argument) { return argument != nullptr && argument->kind == Argument::Kind::Value; }

bool isAbsent(const Argument* argument) { return argument == nullptr || argument->kind == Argument::Kind::None; }

// Whether it is left to its default, or is the flag [value].
bool isFlag(const Argument* argument, bool value) { return argument == nullptr || argument->isBool(value); }

bool areInts(const Argument* argument, std::initializer_list<int64_t> numbers) {
  return argument != nullptr && std::ranges::equal(argument->items, numbers, [](const Argument& item, int64_t number) {
           return item.isInt(number);
         });
}

bool areAll(const Argument& list, int64_t number) {
  return std::ranges::all_of(list.items, [number](const Argument& item) { return item.isInt(number); });
}

bool areAll(const NamedArgument& list, std::string_view name, int64_t number) {
  return list.name == name && areAll(list.value, number);
}

class Recomposer final {
 public:
  explicit Recomposer(ExportedProgram& program) : graph_(program.graph) {
    for (const InputSpec& input : program.inputs) {
      if (input.kind == InputSpec::Kind::Weight) weights_.insert(input.value);
    }
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      for (const NamedArgument& input : graph_.nodes[i].inputs) {
        forEachValue(input.value, [&](const std::string& value) { users_[value].push_back(i); });
      }
      for (const Argument& output : graph_.nodes[i].outputs) {
        forEachValue(output, [&](const std::string& value) { defined_by_.emplace(value, i); });
      }
    }
    const auto isOutput = [&](const std::string& value) { users_[value].push_back(graph_.nodes.size()); };
    for (const Argument& output : graph_.outputs) forEachValue(output, isOutput);
    for (const OutputSpec& output : program.outputs) forEachValue(output.value, isOutput);
  }

  void run() {
    for (Node& node : graph_.nodes) {
      const std::string_view target = node.target;
      if (!target.starts_with(kCore)) continue;
      const std::string_view name = target.substr(kCore.size());
      if (name == "convolution.default") {
        convolution(node);
      } else if (name == "_native_batch_norm_legit_no_training.default") {
        batchNorm(node);
      } else if (name == "native_layer_norm.default") {
        takeFirst(node, "layer_norm.default");
      } else if (name == "native_group_norm.default") {
        groupNorm(node);
      } else if (name == "arange.start_step") {
        arange(node);
      } else if (name == "max_pool2d_with_indices.default") {
        takeFirst(node, "max_pool2d.default");
      } else if (name == "_softmax.default" || name == "_log_softmax.default") {
        softmax(node, name == "_softmax.default" ? "softmax.int" : "log_softmax.int");
      } else if (name == "addmm.default") {
        linear(node, "mat1", NodeText::find(node, "self"));
      } else if (name == "mm.default") {
        linear(node, "self", nullptr);
      } else if (name == "expand.default" || name == "view.default") {
        sameShape(node);
      }
    }
  }

 private:
  const TensorMeta* metaOf(const std::string& value) const {
    const auto found = graph_.tensors.find(value);
    return found != graph_.tensors.end() ? &found->second : nullptr;
  }
  const TensorMeta* metaOf(const Argument* value) const { return isValue(value) ? metaOf(value->text) : nullptr; }

  static void setTarget(Node& node, std::string_view name) { node.target = fmt::format("{}{}", kCore, name); }

  // Makes it an operator that has only the first result. Returns false if another result is used.
  bool takeFirst(Node& node, std::string_view name) {
    const bool is_only = !node.outputs.empty() && node.outputs[0].kind == Argument::Kind::Value &&
                         std::all_of(node.outputs.begin() + 1, node.outputs.end(), [this](const Argument& output) {
                           return output.kind == Argument::Kind::Value && !users_.contains(output.text);
                         });
    if (!is_only) return false;
    setTarget(node, name);
    node.outputs.resize(1);
    return true;
  }

  void convolution(Node& node) {
    const TensorMeta* const weight = metaOf(NodeText::find(node, "weight"));
    const Argument* const transposed = NodeText::find(node, "transposed");
    const Argument* const padding = NodeText::find(node, "output_padding");
    const bool is_plain = isFlag(transposed, false) && (padding == nullptr || areAll(*padding, 0));
    // Operators for one dimension to three, each with as many sizes of the kernel.
    if (!is_plain || weight == nullptr || weight->sizes.size() < 3 || weight->sizes.size() > 5) return;
    setTarget(node, fmt::format("conv{}d.default", weight->sizes.size() - 2));
    std::erase_if(node.inputs, [](const NamedArgument& input) {
      const bool is_default = areAll(input, "stride", 1) || areAll(input, "padding", 0) || areAll(input, "dilation", 1);
      return is_default || input.name == "transposed" || input.name == "output_padding";
    });
  }

  void batchNorm(Node& node) {
    if (!takeFirst(node, "batch_norm.default")) return;
    const auto momentum = std::ranges::find(node.inputs, "momentum", &NamedArgument::name);
    node.inputs.insert(momentum, {"training", {.kind = Argument::Kind::Bool, .integer = 0}});
    node.inputs.push_back({"cudnn_enabled", {.kind = Argument::Kind::Bool, .integer = 0}});
  }

  void groupNorm(Node& node) {
    if (!takeFirst(node, "group_norm.default")) return;
    // The other sizes are those of the input.
    std::erase_if(node.inputs, [](const NamedArgument& input) {
      return input.name == "N" || input.name == "C" || input.name == "HxW";
    });
    for (NamedArgument& input : node.inputs) {
      if (input.name == "group") input.name = "num_groups";
    }
  }

  // arange(0, n) is arange(n).
  static void arange(Node& node) {
    const Argument* const start = NodeText::find(node, "start");
    const Argument* const step = NodeText::find(node, "step");
    if (start == nullptr || !start->isInt(0) || (step != nullptr && !step->isInt(1))) return;
    setTarget(node, "arange.default");
    std::erase_if(node.inputs,
                  [](const NamedArgument& input) { return input.name == "start" || input.name == "step"; });
  }

  static void softmax(Node& node, std::string_view name) {
    const Argument* const is_converted = NodeText::find(node, "half_to_float");
    if (is_converted == nullptr || !isFlag(is_converted, false)) return;
    setTarget(node, name);
    std::erase_if(node.inputs, [](const NamedArgument& input) { return input.name == "half_to_float"; });
  }

  // What returns its argument with the sizes that it has.
  void sameShape(Node& node) {
    const Argument* const self = NodeText::find(node, "self");
    const TensorMeta* const before = metaOf(self);
    const TensorMeta* const after = node.outputs.size() == 1 ? metaOf(&node.outputs[0]) : nullptr;
    if (before == nullptr || after == nullptr || before->sizes != after->sizes) return;
    Argument argument = *self;
    node.inputs = {{"self", std::move(argument)}};
    setTarget(node, "alias.default");
  }

  // The weight that [argument] is the transpose of; null if it is something else.
  const Argument* transposedWeight(const Argument* argument) const {
    const auto defined = isValue(argument) ? defined_by_.find(argument->text) : defined_by_.end();
    if (defined == defined_by_.end()) return nullptr;
    const Node& node = graph_.nodes[defined->second];
    const bool is_transpose =
        node.target == "torch.ops.aten.t.default" ||
        (node.target == "torch.ops.aten.permute.default" && areInts(NodeText::find(node, "dims"), {1, 0}));
    const Argument* const weight = is_transpose ? NodeText::find(node, "self") : nullptr;
    return isValue(weight) && weights_.contains(weight->text) ? weight : nullptr;
  }

  // x @ weight.t() + bias. The layer takes any number of dimensions, and PyTorch views it as two before and as what it
  // was behind.
  void linear(Node& node, std::string_view input, const Argument* bias) {
    const Argument* const x = NodeText::find(node, input);
    const Argument* const weight = transposedWeight(NodeText::find(node, "mat2"));
    if (!isValue(x) || weight == nullptr || node.outputs.size() != 1) return;
    if (!isAbsent(NodeText::find(node, "beta")) || !isAbsent(NodeText::find(node, "alpha"))) return;
    if (bias != nullptr) {
      const TensorMeta* const meta = metaOf(bias);
      if (meta == nullptr || meta->sizes.size() != 1) return;
    }
    std::vector<NamedArgument> inputs = {{"input", *x}, {"weight", *weight}};
    if (bias != nullptr) inputs.push_back({"bias", *bias});
    inputs[0].value = wholeInput(*x, node.outputs[0].text);
    node.inputs = std::move(inputs);
    setTarget(node, "linear.default");
  }

  // What the two-dimensional [x] is a view of, if the result is only used in its shape; else [x].
  Argument wholeInput(const Argument& x, const std::string& result) {
    const auto users = users_.find(result);
    const auto defined = defined_by_.find(x.text);
    if (defined == defined_by_.end() || users == users_.end() || users->second.size() != 1) return x;
    const size_t user = users->second[0];
    if (user >= graph_.nodes.size()) return x;
    const Node& before = graph_.nodes[defined->second];
    const Node& after = graph_.nodes[user];
    const auto isView = [](const Node& node) {
      return (node.target == "torch.ops.aten.view.default" || node.target == "torch.ops.aten._unsafe_view.default") &&
             node.outputs.size() == 1;
    };
    if (!isView(before) || !isView(after)) return x;
    const Argument* const whole = NodeText::find(before, "self");
    const TensorMeta* const from = metaOf(whole);
    const TensorMeta* const flat = metaOf(x.text);
    const TensorMeta* const to = metaOf(&after.outputs[0]);
    const TensorMeta* const flat_to = metaOf(result);
    if (from == nullptr || flat == nullptr || to == nullptr || flat_to == nullptr) return x;
    const std::span<const Size> outer(from->sizes);
    const std::span<const Size> outer_to(to->sizes);
    const bool fits = outer.size() > 1 && outer.size() == outer_to.size() && flat->sizes.size() == 2 &&
                      flat_to->sizes.size() == 2 &&
                      std::ranges::equal(outer.first(outer.size() - 1), outer_to.first(outer.size() - 1)) &&
                      std::ranges::equal(outer.last(1), std::span(flat->sizes).last(1)) &&
                      std::ranges::equal(outer_to.last(1), std::span(flat_to->sizes).last(1));
    if (!fits) return x;
    Argument argument = *whole;
    // The view behind it then finds the shape that it makes.
    graph_.tensors[result] = TensorMeta(*to);
    return argument;
  }

  Graph& graph_;
  std::unordered_set<std::string> weights_;
  std::unordered_map<std::string, std::vector<size_t>> users_;
  std::unordered_map<std::string, size_t> defined_by_;
};

bool writes(const Graph& graph) {
  return std::ranges::any_of(graph.nodes, [](const Node& node) {
    const std::optional<OperatorHandle> op = operatorOf(node.target);
    return (op.has_value() && op->schema().is_mutable()) ||
           std::ranges::any_of(node.inputs, [](const NamedArgument& input) {
             return input.value.graph != nullptr && writes(*input.value.graph);
           });
  });
}

// Where nothing writes, a copy is as good as a view. PyTorch traces with the strides that its own kernels give, such as
// those of batch norms and attention; with others, a view may not be possible, and reshape() copies. What copies for
// another dtype is to().
void plainCopies(Graph& graph) {
  for (Node& node : graph.nodes) {
    for (NamedArgument& input : node.inputs) {
      if (input.value.graph != nullptr) plainCopies(*input.value.graph);
    }
    if (node.inputs.size() != 2) continue;
    if (node.target == "torch.ops.aten.view.default") {
      node.target = "torch.ops.aten.reshape.default";
      node.inputs[1].name = "shape";
    } else if (node.target == "torch.ops.aten._to_copy.default" && node.inputs[1].name == "dtype") {
      node.target = "torch.ops.aten.to.dtype";
    }
  }
}

bool isOnCpu(const Graph& graph) {
  const auto& tensors = graph.tensors;
  return std::ranges::all_of(tensors, [](const auto& entry) { return entry.second.device == "cpu"; });
}

// In a program whose tensors are all on the CPU, to() that names the CPU converts nothing but the dtype. Without the
// device, the program also runs elsewhere.
void conversionsOfDtypes(Graph& graph) {
  for (Node& node : graph.nodes) {
    for (NamedArgument& input : node.inputs) {
      if (input.value.graph != nullptr) conversionsOfDtypes(*input.value.graph);
    }
    if (node.target != "torch.ops.aten.to.device") continue;
    const auto device = std::ranges::find(node.inputs, "device", &NamedArgument::name);
    if (device == node.inputs.end() || device->value.text != "cpu") continue;
    node.inputs.erase(device);
    node.target = "torch.ops.aten.to.dtype";
  }
}

}  // namespace

void recompose(ExportedProgram& program) {
  if (isOnCpu(program.graph)) conversionsOfDtypes(program.graph);
  Recomposer(program).run();
  if (!writes(program.graph)) plainCopies(program.graph);
}

}  // namespace boxcar::interp::pt2
