#pragma once

#include <boxcar/backends/autograd/node.h>
#include <boxcar/dispatcher/boxing/borrowed_argument.h>
#include <boxcar/ivalue/ivalue.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

// The derivatives of operators, as tables that the build generates from backends/ops/*.derivatives.

namespace boxcar::autograd {

class BackwardCall;
class ForwardCall;

// Something of a call that its node keeps.
struct SavedItem {
  enum class What : uint8_t { kArgument, kResult, kSizes, kStrides, kOffset, kDtype, kDim, kIsTurned };

  What what;
  uint8_t position;     // of the argument or result
  uint16_t for_inputs;  // a bit for each differentiable input whose formula uses it
};

// How the tangents of results follow from those of arguments.
enum class Forward : uint8_t {
  kTransposed,   // by the transpose of the gradients' formulas
  kLinear,       // the operator itself, called on the tangents
  kElementwise,  // each gradient's formula, applied to the tangent, conjugated before and after
  kGiven,        // by formulas of their own
};

// How to differentiate one operator.
struct Formula {
  const char* name;  // "aten::mul"
  const char* overload_name;
  const char* node_name;  // "MulBackward0"
  // The positions of the arguments that have a formula.
  std::span<const uint8_t> inputs;
  std::span<const SavedItem> saved;
  // A bit for each result that has a gradient, if its dtype can have one.
  uint16_t differentiable_results;
  // A bit for each argument that must not require grad.
  uint32_t refused_arguments;
  // Where it is written: formulaFiles()[file], and its line there.
  uint8_t file;
  uint16_t line;
  // Null: the results are not differentiable.
  void (*backward)(BackwardCall& call);
  Forward forward;
  // Of kGiven.
  void (*given)(ForwardCall& call);
};

// All formulas, in the order of their names and overload names.
std::span<const Formula> allFormulas() noexcept;
// The files of the formulas: "aten_arithmetic.derivatives".
std::span<const char* const> formulaFiles() noexcept;

// Calls [run] with each tensor of an argument: itself, or the elements of a list.
template <class Run>
void forEachTensor(const IValue& value, const Run& run) {
  if (value.isTensor()) {
    run(value.toTensor());
  } else if (value.isTensorList()) {
    const List<Tensor> tensors = value.toTensorList();
    for (size_t i = 0; i < tensors.size(); ++i) run(tensors.get(i));
  } else if (value.isList()) {
    for (size_t i = 0; i < value.length(); ++i) {
      if (const IValue element = value.elementAt(i); element.isTensor()) run(element.toTensor());
    }
  }
}

// Whether a tensor may have a gradient or a tangent.
inline bool canRequireGrad(const Tensor& tensor) {
  return tensor.defined() && (tensor.is_floating_point() || tensor.is_complex());
}

// What a node keeps: a tensor, another value, or nothing.
class SavedValue final {
 public:
  SavedValue() noexcept = default;
  // Keeps an argument or another value of a call. Tensors must not be written before they are used.
  explicit SavedValue(IValue value);
  // Keeps result [output_nr] of the node's call, without keeping the node alive; -1 if it has no history.
  SavedValue(const Tensor& result, int output_nr);

  const IValue& value() const noexcept { return value_; }
  // Returns it as an argument that is no tensor. Throws Error if a tensor of a list was written since.
  const IValue& argument(const Node& node) const;
  // Drops a tensor, or a list of tensors.
  void free() noexcept;
  bool isFreed() const noexcept { return is_freed_; }
  // [node]: which keeps the value. Throws Error if it was written since.
  Tensor tensor(const IntrusivePtr<Node>& node) const;

 private:
  IValue value_;
  uint32_t version_ = 0;
  int32_t output_nr_ = -1;
  bool is_freed_ = false;
};

// Returns what a node keeps of an argument.
SavedValue savedArgument(const SavedItem& item, std::span<const IValue> arguments);

// The node of a call of an operator that has a formula.
class OperatorNode final : public Node {
 public:
  explicit OperatorNode(const Formula& formula) noexcept : formula_(formula) {}

  std::string name() const override { return formula_.node_name; }
  Gradients apply(Gradients grad_outputs) override;
  void freeSaved() noexcept override;

  const Formula& formula() const noexcept { return formula_; }
  // One for each of the formula's saved items, in order.
  void save(SavedValue value) { saved_.push_back(std::move(value)); }
  void saveAt(size_t item, SavedValue value) { saved_[item] = std::move(value); }
  // Begins the edges of the formula's next input; there are several where it is a list.
  void beginInput() { first_edges_.push_back(static_cast<uint32_t>(edges().size())); }
  size_t firstEdge(size_t input) const noexcept { return first_edges_[input]; }
  size_t pastEdge(size_t input) const noexcept {
    return input + 1 < first_edges_.size() ? first_edges_[input + 1] : edges().size();
  }
  const SavedValue& saved(size_t item) const;

 private:
  const Formula& formula_;
  boost::container::small_vector<SavedValue, 4> saved_;
  boost::container::small_vector<uint32_t, 4> first_edges_;
};

// What a generated backward function works on.
class BackwardCall final {
 public:
  // [wanted]: a bit for each input whose gradient may be computed.
  BackwardCall(OperatorNode& node, const Gradients& grad_outputs, uint16_t wanted = 0xFFFF) noexcept
      : node_(node), grad_outputs_(grad_outputs), wanted_(wanted), results_(node.edges().size()) {}

  // The gradient of result [i]; undefined if there is none.
  const Tensor& grad(size_t i) const noexcept { return grad_outputs_[i]; }
  const Gradients& grads() const noexcept { return grad_outputs_; }
  // Whether somebody needs the gradient of input [i]; of any of its elements, if it is a list.
  bool needs(size_t i) const noexcept;
  // Throws Error if it was written since, or if the graph was freed.
  Tensor tensor(size_t item) const;
  // None gives nullopt.
  std::optional<Tensor> optionalTensor(size_t item) const;
  // An Arg, as a kernel takes it.
  template <class Arg>
  detail::BorrowedArgument<Arg> value(size_t item) const {
    return detail::BorrowedArgument<Arg>(const_cast<IValue&>(node_.saved(item).argument(node_)));
  }

  void set(size_t input, Tensor gradient) { results_[node_.firstEdge(input)] = std::move(gradient); }
  void set(size_t input, std::vector<Tensor> gradients);
  // Sets those from [first] on that somebody needs.
  template <class... Tensors>
  void setAll(size_t first, std::tuple<Tensors...> gradients) {
    std::apply(
        [&](Tensors&... each) {
          size_t input = first;
          ((needs(input) ? set(input, std::move(each)) : void(), ++input), ...);
        },
        gradients);
  }
  Gradients takeResults() noexcept { return std::move(results_); }

 private:
  OperatorNode& node_;
  const Gradients& grad_outputs_;
  uint16_t wanted_;
  Gradients results_;
};

// What a generated function of tangents works on.
class ForwardCall final {
 public:
  // [tangents]: one for each argument, undefined where there is none.
  ForwardCall(std::span<const IValue> arguments, std::span<const IValue> results, std::span<const Tensor> tangents)
      : arguments_(arguments), results_(results), tangents_(tangents), found_(results.size()) {}

  // Whether the argument has a tangent.
  bool has(size_t position) const noexcept { return tangents_[position].defined(); }
  // The tangent of an argument; zeros if it has none.
  Tensor tangent(size_t position) const;
  const Tensor& tensor(size_t position) const { return arguments_[position].toTensor(); }
  // None gives nullopt.
  std::optional<Tensor> optionalTensor(size_t position) const {
    return arguments_[position].isNone() ? std::nullopt : std::optional(tensor(position));
  }
  // An Arg, as a kernel takes it.
  template <class Arg>
  detail::BorrowedArgument<Arg> value(size_t position) const {
    return detail::BorrowedArgument<Arg>(const_cast<IValue&>(arguments_[position]));
  }
  const Tensor& result(size_t i) const { return results_[i].toTensor(); }

  // Adds to the tangent of result [i].
  void add(size_t i, Tensor tangent);
  const std::vector<Tensor>& found() const noexcept { return found_; }

 private:
  std::span<const IValue> arguments_;
  std::span<const IValue> results_;
  std::span<const Tensor> tangents_;
  std::vector<Tensor> found_;
};

// A tensor that a formula may not need.
struct LaterTensor {
  const BackwardCall& call;
  size_t item;

  std::optional<Tensor> operator()() const { return call.optionalTensor(item); }
};

}  // namespace boxcar::autograd
