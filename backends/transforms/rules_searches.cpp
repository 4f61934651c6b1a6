#include <boxcar/backends/transforms/batched_call.h>
#include <boxcar/ops.h>

#include <algorithm>
#include <utility>
#include <vector>

// Operators that look up elements of a whole tensor, and those that sort them.

namespace boxcar::transforms {
namespace {

// The elements of each slice in a row.
Tensor inRows(const Tensor& tensor) { return boxcar::flatten(boxcar::unsqueeze(tensor, -1), 1); }

// Indices that count from the end as those that count from the start.
Tensor counted(const Tensor& index, int64_t size) {
  return boxcar::where(boxcar::lt(index, 0), boxcar::add(index, size), index);
}

std::vector<IValue> take(const BatchedCall& call) {
  const Tensor rows = inRows(call.expanded(0));
  const Tensor index = call.expanded(1);
  return {boxcar::reshape(boxcar::gather(rows, 1, inRows(counted(index, rows.size(1)))), index.sizes())};
}

std::vector<IValue> put(const BatchedCall& call) {
  if (call.op.schema().is_mutable()) call.checkWritten(0);
  const Tensor self = call.expanded(0);
  const Tensor rows = inRows(self);
  const Tensor index = inRows(counted(call.expanded(1), rows.size(1)));
  const Tensor source = inRows(call.expanded(2));
  if (source.size(1) != index.size(1)) return sliceLoop(call);  // which says what is wrong
  const Tensor found =
      call.args[3].toBool() ? boxcar::scatter_add(rows, 1, index, source) : boxcar::scatter(rows, 1, index, source);
  return {boxcar::reshape(found, self.sizes())};
}

// The n-th place of the mask gets the n-th element.
std::vector<IValue> maskedScatter(const BatchedCall& call) {
  if (call.op.schema().is_mutable()) call.checkWritten(0);
  const int64_t rank = std::max(call.logical(0).dim(), call.logical(1).dim());
  const std::vector<Tensor> both =
      boxcar::broadcast_tensors({alignedTo(call.expanded(0), rank), alignedTo(call.expanded(1), rank)});
  const Tensor mask = inRows(both[1]);
  const Tensor source = inRows(call.expanded(2));
  const Tensor places = boxcar::masked_fill(boxcar::sub(boxcar::cumsum(mask, 1), 1), boxcar::logical_not(mask), 0);
  if (source.size(1) == 0) return sliceLoop(call);
  const Tensor found = boxcar::where(mask, boxcar::gather(source, 1, places), inRows(both[0]));
  return {boxcar::reshape(found, both[0].sizes())};
}

std::vector<IValue> searchSorted(const BatchedCall& call) {
  std::vector<IValue> args = call.args;
  const size_t sorter = call.position("sorter");
  if (call.logical(0).dim() == 1 && !call.isBatched(size_t{0}) && !call.isBatched(sorter)) {
    args[1] = call.physical(1);
    return callOperator(call.op, std::move(args));
  }
  const Tensor values = call.expanded(1);
  args[0] = call.expanded(0);
  args[1] = call.logical(0).dim() == 1 ? inRows(values) : values;
  if (call.hasTensor(sorter)) args[sorter] = call.expanded(sorter);
  return {boxcar::reshape(callOperator(call.op, std::move(args))[0].toTensor(), values.sizes())};
}

std::vector<IValue> bucketize(const BatchedCall& call) {
  std::vector<IValue> args = call.args;
  if (!call.isBatched(1)) {
    args[0] = call.physical(0);
    return callOperator(call.op, std::move(args));
  }
  const Tensor values = call.expanded(0);
  const Tensor found = boxcar::searchsorted(call.physical(1), inRows(values), args[2].toBool(), args[3].toBool());
  return {boxcar::reshape(found, values.sizes())};
}

std::vector<IValue> isIn(const BatchedCall& call) {
  std::vector<IValue> args = call.args;
  args[0] = call.physical(0);
  if (!call.isBatched(1)) return callOperator(call.op, std::move(args));
  const Tensor elements = call.expanded(0);
  // All pairs are compared at once.
  constexpr int64_t kMostPairs = 1 << 20;
  if (call.logical(0).numel() > kMostPairs / std::max<int64_t>(call.logical(1).numel(), 1)) return sliceLoop(call);
  const Tensor tests = boxcar::unsqueeze(inRows(call.physical(1)), 1);
  const Tensor found = boxcar::any(boxcar::eq(boxcar::unsqueeze(inRows(elements), -1), tests), -1);
  const Tensor shaped = boxcar::reshape(found, elements.sizes());
  return {args[3].toBool() ? boxcar::logical_not(shaped) : shaped};
}

std::vector<IValue> quantile(const BatchedCall& call) {
  const size_t dim = call.position("dim");
  const size_t keepdim = call.position("keepdim");
  const int64_t rank = call.logical(0).dim();
  const bool has_list = call.args[1].isTensor() && call.logical(1).dim() == 1;
  if (call.isBatched(1) || !call.isBatched(size_t{0}) || rank == 0) return sliceLoop(call);
  std::vector<IValue> args = call.args;
  const bool is_whole = args[dim].isNone();
  const bool keeps = args[keepdim].toBool();
  args[0] = call.physical(0);
  if (is_whole) {
    args[0] = inRows(call.physical(0));
    args[dim] = int64_t{1};
    args[keepdim] = false;
  } else {
    args[dim] = BatchedCall::shifted(args[dim].toInt(), rank);
  }
  Tensor found = callOperator(call.op, std::move(args))[0].toTensor();
  if (has_list) found = boxcar::movedim(found, 0, 1);
  for (int64_t i = 0; is_whole && keeps && i < rank; ++i) found = boxcar::unsqueeze(found, -1);
  return {found};
}

std::vector<IValue> renorm(const BatchedCall& call) {
  const int64_t rank = call.logical(0).dim();
  if (rank < 2) return sliceLoop(call);
  const int64_t dim = BatchedCall::shifted(call.args[2].toInt(), rank);
  const Tensor rows = folded(boxcar::movedim(call.physical(0), dim, 1));
  const Tensor found = boxcar::renorm(rows, call.args[1].toScalar(), 0, call.args[3].toScalar());
  return {boxcar::movedim(unfolded(found, call.batch), 1, dim)};
}

std::vector<IValue> distance(const BatchedCall& call) {
  const int64_t rank = std::max(call.logical(0).dim(), call.logical(1).dim());
  const Tensor difference = boxcar::sub(alignedTo(call.expanded(0), rank), alignedTo(call.expanded(1), rank));
  return callOperator("aten::norm.ScalarOpt_dim", {inRows(difference), call.args[2], std::vector<int64_t>{1}, false});
}

constexpr NamedRule kSearches[] = {
    {"take", &take},           {"put", &put},           {"masked_scatter", &maskedScatter},
    {"sorted", &searchSorted}, {"buckets", &bucketize}, {"isin", &isIn},
    {"quantile", &quantile},   {"renorm", &renorm},     {"dist", &distance},
};

}  // namespace

std::vector<IValue> searchRule(const BatchedCall& call, const std::vector<std::string>& words) {
  return callByName("search", kSearches, call, words.at(0));
}

}  // namespace boxcar::transforms
