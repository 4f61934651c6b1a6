#include <boxcar/backends/transforms/batched_call.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/value_tensors.h>
#include <boxcar/ops.h>

#include <algorithm>
#include <optional>
#include <utility>

// Operators whose arguments are broadcast: elements, or matrices in the last dimensions.

namespace boxcar::transforms {
namespace {

// The logical rank to which all are broadcast.
int64_t commonRank(const BatchedCall& call) {
  int64_t rank = 0;
  for (const IValue& argument : call.args) {
    visitTensors(argument, [&](const Tensor& tensor) { rank = std::max(rank, tensor.dim()); });
  }
  return rank;
}

// The condition of where() does not decide over the dtype.
size_t firstPromoted(const BatchedCall& call) { return call.op.schema().name() == "aten::where" ? 1 : 0; }

// The dtype that logically decides over a batched tensor without dimensions, which has one inside: that of the tensors
// with dimensions, unless [zero] raises their category.
std::optional<ScalarType> decidingType(const BatchedCall& call, ScalarType zero) {
  std::optional<ScalarType> type;
  for (size_t i = firstPromoted(call); i < call.args.size(); ++i) {
    visitTensors(call.args[i], [&](const Tensor& tensor) {
      if (tensor.dim() == 0) return;
      type = type.has_value() ? promoteTypes(*type, tensor.scalar_type()) : tensor.scalar_type();
    });
  }
  const auto category = [](ScalarType each) {
    if (each == ScalarType::Bool) return 0;
    return isComplexType(each) ? 3 : isFloatingType(each) ? 2 : 1;
  };
  if (!type.has_value() || category(zero) > category(*type)) return std::nullopt;
  return type;
}

std::vector<IValue> callAligned(const BatchedCall& call, bool promotes) {
  const int64_t rank = commonRank(call);
  const bool writes_self = call.op.schema().is_mutable();
  if (writes_self) call.checkWritten(0);
  std::vector<IValue> args = call.args;
  for (size_t i = 0; i < args.size(); ++i) {
    args[i] = mapTensors(args[i], [&](const Tensor& tensor) {
      if (!call.isBatched(tensor)) {
        // Those with a batch have a dimension inside, and would decide over the dtype.
        return promotes && rank == 0 && tensor.defined() ? boxcar::unsqueeze(tensor, 0) : tensor;
      }
      Tensor inner = innerOf(tensor);
      if (promotes && tensor.dim() == 0 && rank > 0 && i >= firstPromoted(call) && !(writes_self && i == 0)) {
        const auto type = decidingType(call, tensor.scalar_type());
        if (type.has_value() && *type != inner.scalar_type()) inner = boxcar::to(inner, *type);
      }
      return alignedTo(inner, rank);
    });
  }
  return callOperator(call.op, std::move(args));
}

}  // namespace

std::vector<IValue> pointwiseRule(const BatchedCall& call, const std::vector<std::string>&) {
  return callAligned(call, true);
}

// With `expand`, the first argument has the sizes of the result.
std::vector<IValue> broadcastRule(const BatchedCall& call, const std::vector<std::string>& words) {
  if (words.empty() || call.isBatched(size_t{0})) return callAligned(call, false);
  BatchedCall expanded = call;
  expanded.args[0] = makeBatched(call.expanded(0), call.level);
  return callAligned(expanded, false);
}

// masked_fill and fill with a value that is a tensor without dimensions.
std::vector<IValue> filledRule(const BatchedCall& call, const std::vector<std::string>&) {
  const bool has_mask = call.args.size() > 2;
  const size_t last = call.args.size() - 1;
  if (!call.isBatched(last)) return callAligned(call, false);
  if (call.op.schema().is_mutable()) call.checkWritten(0);
  const int64_t rank = commonRank(call);
  BOXCAR_CHECK(call.logical(last).dim() == 0, "{} only supports a 0-dimensional value tensor, but got one of {}",
               call.name(), call.logical(last).dim());
  const Tensor self = alignedTo(call.expanded(0), rank);
  const Tensor value = boxcar::to(alignedTo(call.physical(last), rank), self.scalar_type());
  if (!has_mask) return {boxcar::clone(boxcar::expand(value, self.sizes()))};
  return {boxcar::where(alignedTo(call.expanded(1), rank), value, self)};
}

// A weight for each channel, the second dimension.
std::vector<IValue> preluRule(const BatchedCall& call, const std::vector<std::string>&) {
  const int64_t rank = call.logical(0).dim();
  const Tensor self = call.expanded(0);
  Tensor weight = call.expanded(1);
  if (call.logical(1).dim() == 1) {
    std::vector<int64_t> sizes(static_cast<size_t>(rank) + 1, 1);
    sizes[0] = call.batch;
    if (rank > 1) sizes[2] = weight.size(1);
    weight = boxcar::reshape(weight, sizes);
  }
  return {boxcar::where(boxcar::gt(self, 0), self, boxcar::mul(alignedTo(weight, rank), self))};
}

std::vector<IValue> lossRule(const BatchedCall& call, const std::vector<std::string>&) {
  const size_t reduction = call.position("reduction");
  const int64_t wanted = call.args[reduction].toInt();
  BatchedCall each = call;
  each.args[reduction] = int64_t{0};
  for (size_t i = 0; i < 2; ++i) {  // input and target have the same sizes
    if (!call.isBatched(i)) each.args[i] = makeBatched(call.expanded(i), call.level);
  }
  Tensor losses = callAligned(each, true)[0].toTensor();
  if (wanted == 0) return {losses};
  losses = boxcar::flatten(boxcar::unsqueeze(losses, -1), 1);
  const int64_t dim[] = {1};
  return {wanted == 1 ? boxcar::mean(losses, dim) : boxcar::sum(losses, dim)};
}

// The batch is one dimension more that the operator does not look at.
std::vector<IValue> eachRule(const BatchedCall& call, const std::vector<std::string>&) {
  std::vector<IValue> args = call.args;
  for (IValue& argument : args) {
    argument =
        mapTensors(argument, [&](const Tensor& tensor) { return tensor.defined() ? call.expanded(tensor) : tensor; });
  }
  if (call.op.schema().is_mutable()) call.checkWritten(0);
  return callOperator(call.op, std::move(args));
}

}  // namespace boxcar::transforms
