#include <boxcar/backends/transforms/batched_call.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>

#include <utility>

// Products of matrices and vectors, as products of batches of them.

namespace boxcar::transforms {
namespace {

// Returns an argument as a stack of matrices, [B, n, m], or [n, m] if it has no batch. [is_row]: what a vector is.
Tensor asMatrices(const BatchedCall& call, size_t i, bool is_row) {
  const Tensor inner = call.physical(i);
  if (call.logical(i).dim() != 1) return inner;
  return boxcar::unsqueeze(inner, is_row ? -2 : -1);
}

// With a batch, [B, n, m].
Tensor asStack(const BatchedCall& call, size_t i, bool is_row) {
  const Tensor matrices = asMatrices(call, i, is_row);
  return call.isBatched(i) ? matrices : expandedBy(matrices, call.batch);
}

Tensor multiply(const BatchedCall& call, size_t left, size_t right) {
  if (!call.isBatched(right)) {
    // One product of all rows.
    const Tensor a = asMatrices(call, left, true);
    const Tensor b = asMatrices(call, right, false);
    const int64_t rows[] = {a.size(0) * a.size(1), a.size(2)};
    const int64_t sizes[] = {a.size(0), a.size(1), b.size(1)};
    return boxcar::reshape(boxcar::mm(boxcar::reshape(a, rows), b), sizes);
  }
  return boxcar::bmm(asStack(call, left, true), asStack(call, right, false));
}

// [B, b, n, m] as [B * b, n, m].
Tensor asOneStack(const Tensor& tensor) { return boxcar::flatten(tensor, 0, 1); }

// beta * self + alpha * left @ right for stacks of matrices.
Tensor addProduct(const BatchedCall& call, const Tensor& self, const Tensor& left, const Tensor& right) {
  return boxcar::baddbmm(self, left, right, call.args[3].toScalar(), call.args[4].toScalar());
}

std::vector<IValue> addMatrixProduct(const BatchedCall& call) {
  const Tensor& self = call.logical(0);
  if (!call.isBatched(2) && !call.isBatched(size_t{0}) && self.dim() == 1) {
    const Tensor rows = call.physical(1);
    const int64_t all[] = {rows.size(0) * rows.size(1), rows.size(2)};
    const int64_t sizes[] = {rows.size(0), rows.size(1), call.logical(2).size(1)};
    const Tensor product = boxcar::addmm(self, boxcar::reshape(rows, all), call.logical(2), call.args[3].toScalar(),
                                         call.args[4].toScalar());
    return {boxcar::reshape(product, sizes)};
  }
  return {addProduct(call, alignedTo(call.expanded(0), 2), asStack(call, 1, true), asStack(call, 2, false))};
}

std::vector<IValue> addStackedProducts(const BatchedCall& call) {
  const Tensor left = call.expanded(1);
  const Tensor right = call.expanded(2);
  const int64_t sizes[] = {left.size(0), left.size(1), left.size(2), right.size(3)};
  const Tensor self = boxcar::expand(alignedTo(call.expanded(0), 3), sizes);
  const Tensor product = addProduct(call, asOneStack(self), asOneStack(left), asOneStack(right));
  return {boxcar::reshape(product, sizes)};
}

}  // namespace

std::vector<IValue> productRule(const BatchedCall& call, const std::vector<std::string>& words) {
  const std::string& kind = words.at(0);
  if (kind == "mm") return {multiply(call, 0, 1)};
  if (kind == "mv") return {boxcar::squeeze(multiply(call, 0, 1), -1)};
  if (kind == "dot" || kind == "vdot") {
    const Tensor left = asStack(call, 0, true);
    const Tensor product = boxcar::bmm(kind == "vdot" ? boxcar::conj(left) : left, asStack(call, 1, false));
    const int64_t dims[] = {1, 2};
    return {boxcar::squeeze(product, dims)};
  }
  if (kind == "bmm") return {boxcar::matmul(call.physical(0), call.physical(1))};
  if (kind == "addmm") return addMatrixProduct(call);
  if (kind == "baddbmm") return addStackedProducts(call);
  if (kind == "addmv") {
    const Tensor self = boxcar::unsqueeze(alignedTo(call.expanded(0), 1), -1);
    return {boxcar::squeeze(addProduct(call, self, asStack(call, 1, true), asStack(call, 2, false)), -1)};
  }
  if (kind == "addr") {
    if (call.logical(1).scalar_type() == ScalarType::Bool) return sliceLoop(call);  // which no product takes
    return {addProduct(call, alignedTo(call.expanded(0), 2), asStack(call, 1, false), asStack(call, 2, true))};
  }
  BOXCAR_CHECK(kind == "addbmm", "aten.batching: no product '{}'", kind);
  // The sum of products is one product: [B, n, b * k] @ [B, b * k, m].
  const Tensor left = boxcar::flatten(boxcar::transpose(call.expanded(1), 1, 2), 2);
  const Tensor right = boxcar::flatten(call.expanded(2), 1, 2);
  return {addProduct(call, alignedTo(call.expanded(0), 2), left, right)};
}

}  // namespace boxcar::transforms
