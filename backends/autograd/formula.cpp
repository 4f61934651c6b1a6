#include <boxcar/backends/autograd/anomaly_mode.h>
#include <boxcar/backends/autograd/formula.h>
#include <boxcar/backends/autograd/history.h>
#include <boxcar/dispatcher/call/grad_mode.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/value_tensors.h>
#include <boxcar/ops.h>
#include <fmt/format.h>

#include <algorithm>

namespace boxcar::autograd {
namespace {

[[noreturn, gnu::cold]] void failWritten(const Tensor& tensor, uint32_t expected, const Node& node) {
  const std::string call = callOf(node);
  const std::string writer = writerOf(*tensor.storage());
  BOXCAR_FAIL(
      "one of the variables needed for gradient computation has been modified by an inplace operation: the tensor of "
      "shape [{}] and dtype {} that {} saved{} is at version {}; expected version {} instead.{} clone() it before it "
      "is "
      "changed{}",
      fmt::join(tensor.sizes(), ", "), dtypeName(tensor.scalar_type()), node.name(),
      call.empty() ? "" : fmt::format(", {},", call), tensor.version(), expected,
      writer.empty() ? "" : fmt::format(" It was written by {}.", writer),
      call.empty() ? "; under anomaly_mode(), this error names the lines" : "");
}

[[noreturn, gnu::cold]] void failWrittenInList(const Node& node) {
  const std::string call = callOf(node);
  BOXCAR_FAIL(
      "one of the variables needed for gradient computation has been modified by an inplace operation: a tensor of a "
      "list that {} saved{}. clone() it before it is changed",
      node.name(), call.empty() ? "" : fmt::format(", {}", call));
}

// Whether a matrix lies in memory as the transpose of a contiguous one, as a Linear's weight does when it is used.
bool isTurned(const Tensor& x) {
  return x.dim() == 2 && x.stride(0) == 1 && x.stride(1) == x.size(0) && x.size(0) != 1 && x.size(1) != 1;
}

// Of the tensors in a list. It grows by each write to one of them.
uint32_t sumOfVersions(const IValue& list) {
  uint32_t sum = 0;
  visitTensors(list, [&](const Tensor& tensor) { sum += tensor.version(); });
  return sum;
}

}  // namespace

SavedValue::SavedValue(IValue value) : value_(std::move(value)) {
  if (value_.isTensor()) {
    version_ = value_.toTensor().version();
  } else if (value_.isTensorList() || value_.isGenericList()) {
    // The caller may change its list later.
    value_ = mapTensors(value_, [](const Tensor& tensor) { return tensor; });
    version_ = sumOfVersions(value_);
  }
}

SavedValue::SavedValue(const Tensor& result, int output_nr) : version_(result.version()), output_nr_(output_nr) {
  value_ = withoutHistory(result);  // the tensor itself would keep its node, which keeps this
}

Tensor SavedValue::tensor(const IntrusivePtr<Node>& node) const {
  const Tensor& kept = value_.toTensor();
  if (kept.version() != version_) [[unlikely]]
    failWritten(kept, version_, *node);
  if (output_nr_ < 0 || !GradMode::is_enabled()) return kept;
  // With its history, for a derivative of the derivative.
  Tensor result = withoutHistory(kept);
  AutogradMeta& meta = AutogradMeta::findOrMake(result);
  meta.grad_fn = node;
  meta.output_nr = static_cast<uint32_t>(output_nr_);
  result.set_requires_grad(true);
  return result;
}

const IValue& SavedValue::argument(const Node& node) const {
  const bool is_list = value_.isTensorList() || value_.isGenericList();
  if (is_list && sumOfVersions(value_) != version_) [[unlikely]]
    failWrittenInList(node);
  return value_;
}

void SavedValue::free() noexcept {
  if (!value_.isTensor() && !value_.isTensorList() && !value_.isGenericList()) return;
  value_ = IValue();
  is_freed_ = true;
}

const SavedValue& OperatorNode::saved(size_t item) const {
  BOXCAR_CHECK(!saved_[item].isFreed(),
               "Trying to backward through the graph a second time (or directly access saved tensors after they have "
               "already been freed). Saved intermediate values of the graph are freed when you call .backward() or "
               "autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or "
               "if you need to access saved tensors after calling backward. The node is {}",
               name());
  return saved_[item];
}

Gradients OperatorNode::apply(Gradients grad_outputs) {
  BackwardCall call(*this, grad_outputs);
  formula_.backward(call);
  return call.takeResults();
}

void OperatorNode::freeSaved() noexcept {
  for (SavedValue& value : saved_) value.free();
}

SavedValue savedArgument(const SavedItem& item, std::span<const IValue> arguments) {
  const IValue& argument = arguments[item.position];
  switch (item.what) {
    case SavedItem::What::kSizes: return SavedValue(List<int64_t>(argument.toTensor().sizes()));
    case SavedItem::What::kStrides: return SavedValue(List<int64_t>(argument.toTensor().strides()));
    case SavedItem::What::kOffset: return SavedValue(argument.toTensor().storage_offset());
    case SavedItem::What::kDtype: return SavedValue(static_cast<int64_t>(argument.toTensor().scalar_type()));
    case SavedItem::What::kDim: return SavedValue(argument.toTensor().dim());
    case SavedItem::What::kIsTurned: return SavedValue(isTurned(argument.toTensor()));
    default: return SavedValue(argument);
  }
}

bool BackwardCall::needs(size_t i) const noexcept {
  if ((wanted_ >> i & 1) == 0) return false;
  const auto& edges = node_.edges();
  return std::any_of(edges.begin() + static_cast<ptrdiff_t>(node_.firstEdge(i)),
                     edges.begin() + static_cast<ptrdiff_t>(node_.pastEdge(i)),
                     [](const Edge& edge) { return edge.is_valid(); });
}

Tensor BackwardCall::tensor(size_t item) const { return node_.saved(item).tensor(IntrusivePtr<Node>::share(&node_)); }

std::optional<Tensor> BackwardCall::optionalTensor(size_t item) const {
  if (node_.saved(item).value().isNone()) return std::nullopt;
  return tensor(item);
}

Tensor ForwardCall::tangent(size_t position) const {
  return has(position) ? tangents_[position] : boxcar::zeros_like(tensor(position));
}

void ForwardCall::add(size_t i, Tensor tangent) {
  if (!tangent.defined()) return;
  found_[i] = found_[i].defined() ? boxcar::add(found_[i], tangent) : std::move(tangent);
}

void BackwardCall::set(size_t input, std::vector<Tensor> gradients) {
  std::ranges::move(gradients, results_.begin() + static_cast<ptrdiff_t>(node_.firstEdge(input)));
}

}  // namespace boxcar::autograd
