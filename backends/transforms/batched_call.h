#pragma once

#include <boxcar/backends/transforms/batched_tensor.h>
#include <boxcar/dispatcher/registry/operator_handle.h>
#include <boxcar/ivalue/ivalue.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// What the rule of an operator works on.

namespace boxcar::transforms {

// Calls an operator by its name, "aten::sum.dim_IntList", or handle. Returns its results.
std::vector<IValue> callOperator(const OperatorHandle& op, std::vector<IValue> arguments);
std::vector<IValue> callOperator(std::string_view name, std::vector<IValue> arguments);

// A call with an argument that is batched at [level], and none that is further in. A rule calls operators on the
// tensors inside, and returns results whose first dimension is the batch.
class BatchedCall final {
 public:
  BatchedCall(const OperatorHandle& handle, std::vector<IValue> given, uint64_t of_level, int64_t size)
      : op(handle), args(std::move(given)), level(of_level), batch(size) {}

  const OperatorHandle& op;
  std::vector<IValue> args;
  uint64_t level;
  int64_t batch;

  // Of argument [i], which is a tensor.
  const Tensor& logical(size_t i) const { return args[i].toTensor(); }
  // Whether it is a tensor at all, defined.
  bool hasTensor(size_t i) const { return args[i].isTensor() && args[i].toTensor().defined(); }
  bool isBatched(const Tensor& tensor) const { return tensor.defined() && levelOf(tensor) == level; }
  bool isBatched(size_t i) const { return hasTensor(i) && isBatched(logical(i)); }
  // The tensor inside a batched one; any other as it is.
  Tensor physical(const Tensor& tensor) const { return isBatched(tensor) ? innerOf(tensor) : tensor; }
  Tensor physical(size_t i) const { return physical(logical(i)); }
  // The tensor with a batch: inside a batched one, or [batch] times the same.
  Tensor expanded(const Tensor& tensor) const {
    return isBatched(tensor) ? innerOf(tensor) : expandedBy(tensor, batch);
  }
  Tensor expanded(size_t i) const { return expanded(logical(i)); }

  // The dimension of a logical tensor of [rank] as that of the tensor inside.
  static int64_t shifted(int64_t dim, int64_t rank) { return wrapDimension(dim, rank) + 1; }

  // The position of the argument of that name in the schema.
  size_t position(std::string_view name) const;
  // Throws PyTorch's Error if argument [i], which the operator writes, has no batch.
  void checkWritten(size_t i) const;
  // "aten::add_.Tensor"
  std::string name() const { return toString(op); }
  // "aten::add_.Tensor cannot be called inside func::vmap()"
  std::string refusal() const;
};

// Returns [tensor] with dimensions of size 1 after the batch, to have [rank] besides the batch.
Tensor alignedTo(const Tensor& tensor, int64_t rank);

// Joins the batch, at dimension [at], with the dimension behind it: [B, N, …] becomes [B * N, …].
Tensor folded(const Tensor& tensor, int64_t at = 0);
// Reverses folded(): [B * N, …] becomes [B, N, …].
Tensor unfolded(const Tensor& tensor, int64_t batch, int64_t at = 0);
// Returns indices of [rows] rows, with a batch, as indices of the rows of all slices, one below the other.
Tensor rowsOfSlices(const Tensor& indices, int64_t batch, int64_t rows);

// The elements of a list of integers; one integer is a list of one.
std::vector<int64_t> intsOf(const IValue& value);

using BatchingRule = std::vector<IValue> (*)(const BatchedCall& call, const std::vector<std::string>& words);

// The families of the table.
std::vector<IValue> pointwiseRule(const BatchedCall& call, const std::vector<std::string>& words);
std::vector<IValue> broadcastRule(const BatchedCall& call, const std::vector<std::string>& words);
std::vector<IValue> filledRule(const BatchedCall& call, const std::vector<std::string>& words);
std::vector<IValue> preluRule(const BatchedCall& call, const std::vector<std::string>& words);
std::vector<IValue> lossRule(const BatchedCall& call, const std::vector<std::string>& words);
std::vector<IValue> eachRule(const BatchedCall& call, const std::vector<std::string>& words);
std::vector<IValue> dimsRule(const BatchedCall& call, const std::vector<std::string>& words);
std::vector<IValue> wholeRule(const BatchedCall& call, const std::vector<std::string>& words);
std::vector<IValue> sizesRule(const BatchedCall& call, const std::vector<std::string>& words);
std::vector<IValue> newRule(const BatchedCall& call, const std::vector<std::string>& words);
std::vector<IValue> shapeRule(const BatchedCall& call, const std::vector<std::string>& words);
std::vector<IValue> undoRule(const BatchedCall& call, const std::vector<std::string>& words);
std::vector<IValue> joinRule(const BatchedCall& call, const std::vector<std::string>& words);
std::vector<IValue> stridedRule(const BatchedCall& call, const std::vector<std::string>& words);
std::vector<IValue> productRule(const BatchedCall& call, const std::vector<std::string>& words);
std::vector<IValue> foldRule(const BatchedCall& call, const std::vector<std::string>& words);
std::vector<IValue> alignedDimsRule(const BatchedCall& call, const std::vector<std::string>& words);
std::vector<IValue> networkRule(const BatchedCall& call, const std::vector<std::string>& words);
std::vector<IValue> stackedRule(const BatchedCall& call, const std::vector<std::string>& words);
std::vector<IValue> gradientRule(const BatchedCall& call, const std::vector<std::string>& words);
std::vector<IValue> searchRule(const BatchedCall& call, const std::vector<std::string>& words);
std::vector<IValue> indexRule(const BatchedCall& call, const std::vector<std::string>& words);

// The rules of a family whose first word says which one.
struct NamedRule {
  std::string_view name;
  std::vector<IValue> (*rule)(const BatchedCall& call);
};
// Calls the one of that name. Throws Error if [family] has none.
std::vector<IValue> callByName(std::string_view family, std::span<const NamedRule> rules, const BatchedCall& call,
                               std::string_view name);

// Calls the operator for each slice, and puts the results together.
std::vector<IValue> sliceLoop(const BatchedCall& call);

}  // namespace boxcar::transforms
