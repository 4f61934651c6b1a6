#include <boxcar/backends/transforms/batched_call.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>

#include <algorithm>
#include <optional>
#include <utility>

// Operators with tensors of indices.

namespace boxcar::transforms {
namespace {

// Indices along dimension [dim] of a tensor inside, in the shape of that tensor: what gather and scatter take.
Tensor spread(const Tensor& index, const std::vector<int64_t>& sizes, int64_t dim) {
  std::vector<int64_t> shape(sizes.size(), 1);
  shape[0] = index.size(0);
  shape[static_cast<size_t>(dim)] = index.size(1);
  std::vector<int64_t> all = sizes;
  all[static_cast<size_t>(dim)] = index.size(1);
  return boxcar::expand(boxcar::reshape(index, shape), all);
}

// The operators that take one list of indices along a dimension, and what does the same with indices for each slice.
std::vector<IValue> alongDim(const BatchedCall& call, const std::string& kind) {
  std::vector<IValue> args = call.args;
  if (call.op.schema().is_mutable()) call.checkWritten(0);
  if (call.logical(0).dim() == 0) return sliceLoop(call);
  const int64_t dim = BatchedCall::shifted(args[1].toInt(), call.logical(0).dim());
  if (!call.isBatched(2)) {
    args[0] = call.expanded(0);
    args[1] = dim;
    if (args.size() > 3 && args[3].isTensor()) {
      if (call.logical(3).dim() == 0) {
        if (call.isBatched(3)) return sliceLoop(call);
      } else {
        args[3] = call.expanded(3);
      }
    }
    return callOperator(call.op, std::move(args));
  }
  const Tensor self = call.expanded(0);
  const Tensor index = call.physical(2);
  if (call.logical(2).dim() != 1) return sliceLoop(call);
  const Tensor counted = boxcar::where(boxcar::lt(index, 0), boxcar::add(index, self.size(dim)), index);
  const Tensor all = spread(counted, {self.sizes().begin(), self.sizes().end()}, dim);
  if (kind == "select") return {boxcar::gather(self, dim, all)};
  if (kind == "fill" && !args[3].isTensor()) return {boxcar::scatter(self, dim, all, args[3].toScalar())};
  if (kind == "fill" || call.logical(3).dim() == 0) return sliceLoop(call);
  const Tensor source = call.expanded(3);
  if (kind == "copy") return {boxcar::scatter(self, dim, all, source)};
  if (kind == "reduce") {
    return {boxcar::scatter_reduce(self, dim, all, source, args[4].toStringRef(), args[5].toBool())};
  }
  BOXCAR_CHECK(kind == "add", "aten.batching: no index '{}'", kind);
  const Scalar alpha = args[4].toScalar();
  return {boxcar::scatter_add(self, dim, all, alpha == Scalar(1) ? source : boxcar::mul(source, alpha))};
}

// The indices of index and index_put, and what they do to the dimensions.
struct Indices {
  std::vector<std::optional<Tensor>> each;  // logical
  int64_t rank = 0;                         // of the indices, broadcast
  size_t first = 0;                         // of them
  bool are_adjacent = true;
};

Indices readIndices(const BatchedCall& call) {
  Indices indices;
  const IValue& list = call.args[1];
  for (size_t i = 0; i < list.length(); ++i) {
    const IValue element = list.elementAt(i);
    if (!element.isTensor() || !element.toTensor().defined()) {
      indices.each.emplace_back(std::nullopt);
      continue;
    }
    const Tensor& tensor = element.toTensor();
    if (tensor.scalar_type() != ScalarType::Bool && tensor.scalar_type() != ScalarType::Byte) {
      indices.each.emplace_back(tensor);
      continue;
    }
    BOXCAR_CHECK(!call.isBatched(tensor),
                 "{} with a mask that is vmapped over: each slice would pick another "
                 "number of elements. Use where() or masked_fill()",
                 call.refusal());
    const Tensor places = boxcar::nonzero(tensor);
    for (int64_t k = 0; k < places.size(1); ++k) indices.each.emplace_back(boxcar::select(places, 1, k));
  }
  std::optional<size_t> last;
  for (size_t i = 0; i < indices.each.size(); ++i) {
    if (!indices.each[i].has_value()) continue;
    if (!last.has_value()) indices.first = i;
    if (last.has_value() && *last + 1 != i) indices.are_adjacent = false;
    last = i;
    indices.rank = std::max(indices.rank, indices.each[i]->dim());
  }
  return indices;
}

// As the operator takes them: with one for the batch at the front.
IValue listWithBatch(const BatchedCall& call, const Indices& indices, const std::optional<Tensor>& batch) {
  std::vector<IValue> all{batch.has_value() ? IValue(*batch) : IValue()};
  for (const auto& index : indices.each) {
    if (!index.has_value()) {
      all.emplace_back();
    } else {
      all.emplace_back(call.isBatched(*index) ? alignedTo(innerOf(*index), indices.rank) : *index);
    }
  }
  List<std::optional<Tensor>> list;
  for (const IValue& each : all) list.push_back(each.isNone() ? std::nullopt : std::optional(each.toTensor()));
  return list;
}

Tensor batchIndex(const BatchedCall& call, const Indices& indices, Device device) {
  std::vector<int64_t> sizes(static_cast<size_t>(indices.rank) + 1, 1);
  sizes[0] = call.batch;
  return boxcar::reshape(boxcar::arange(call.batch, ScalarType::Long, std::nullopt, device), sizes);
}

// Of a tensor [B, indices…, before…, after…]: moves what comes before the indices to its place.
Tensor withDimsBefore(const Tensor& tensor, int64_t indices, int64_t before) {
  if (before == 0) return tensor;
  std::vector<int64_t> from;
  std::vector<int64_t> to;
  for (int64_t k = 0; k < before; ++k) {
    from.push_back(1 + indices + k);
    to.push_back(1 + k);
  }
  return boxcar::movedim(tensor, from, to);
}

// The other way round.
Tensor withDimsBehind(const Tensor& tensor, int64_t indices, int64_t before) {
  if (before == 0) return tensor;
  std::vector<int64_t> from;
  std::vector<int64_t> to;
  for (int64_t k = 0; k < before; ++k) {
    from.push_back(1 + k);
    to.push_back(1 + indices + k);
  }
  return boxcar::movedim(tensor, from, to);
}

std::vector<IValue> indexTensor(const BatchedCall& call) {
  const Indices indices = readIndices(call);
  const Tensor self = call.expanded(0);
  std::vector<IValue> args = call.args;
  const bool are_batched =
      std::ranges::any_of(indices.each, [&](const auto& index) { return index && call.isBatched(*index); });
  args[0] = self;
  args[1] = listWithBatch(call, indices,
                          are_batched ? std::optional(batchIndex(call, indices, self.device())) : std::nullopt);
  const Tensor found = callOperator(call.op, std::move(args))[0].toTensor();
  if (!are_batched) {
    // Indices that are not adjacent come first, before the batch.
    return {indices.are_adjacent ? found : boxcar::movedim(found, indices.rank, 0)};
  }
  if (!indices.are_adjacent) return {found};
  return {withDimsBefore(found, indices.rank, static_cast<int64_t>(indices.first))};
}

// The mask of `x[mask] = number`, if it is all that indexes: it may be vmapped over, as no slice has other sizes.
std::optional<Tensor> onlyMask(const BatchedCall& call) {
  const IValue& list = call.args[1];
  const bool is_one = list.length() == 1 && list.elementAt(0).isTensor() && list.elementAt(0).toTensor().defined();
  if (!is_one || call.logical(2).numel() != 1 || call.args[3].toBool()) return std::nullopt;
  const Tensor mask = list.elementAt(0).toTensor();
  const Tensor& self = call.logical(0);
  const bool fits = mask.scalar_type() == ScalarType::Bool && mask.dim() <= self.dim() &&
                    std::ranges::equal(mask.sizes(), self.sizes().first(static_cast<size_t>(mask.dim())));
  return fits ? std::optional(mask) : std::nullopt;
}

std::vector<IValue> fillMasked(const BatchedCall& call, const Tensor& mask) {
  Tensor self = call.expanded(0);
  Tensor chosen = call.expanded(mask);
  while (chosen.dim() < self.dim()) chosen = boxcar::unsqueeze(chosen, -1);
  const Tensor value = boxcar::to(boxcar::reshape(call.expanded(2), {call.batch}), self.scalar_type());
  const Tensor filled = boxcar::where(chosen, alignedTo(value, self.dim() - 1), self);
  if (!call.op.schema().is_mutable()) return {filled};
  return {boxcar::copy_(self, filled)};
}

std::vector<IValue> indexPut(const BatchedCall& call) {
  if (const std::optional<Tensor> mask = onlyMask(call)) {
    if (call.op.schema().is_mutable()) call.checkWritten(0);
    return fillMasked(call, *mask);
  }
  const Indices indices = readIndices(call);
  if (call.op.schema().is_mutable()) call.checkWritten(0);
  const Tensor self = call.expanded(0);
  std::vector<IValue> args = call.args;
  args[0] = self;
  args[1] = listWithBatch(call, indices, batchIndex(call, indices, self.device()));
  // The values as the operator sees them: [B, indices…, before…, after…].
  int64_t indexed = 0;
  for (const auto& index : indices.each) indexed += index.has_value() ? 1 : 0;
  const int64_t rank = call.logical(0).dim() - indexed + indices.rank;
  const int64_t before = indices.are_adjacent ? static_cast<int64_t>(indices.first) : 0;
  const Tensor values = call.expanded(2);
  // Dimensions may be missing at the front.
  args[2] = withDimsBehind(alignedTo(values, rank), indices.rank, before);
  return callOperator(call.op, std::move(args));
}

}  // namespace

std::vector<IValue> indexRule(const BatchedCall& call, const std::vector<std::string>& words) {
  const std::string& kind = words.at(0);
  if (kind == "tensor") return indexTensor(call);
  if (kind == "put") return indexPut(call);
  return alongDim(call, kind);
}

}  // namespace boxcar::transforms
