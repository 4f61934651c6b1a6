#include <boxcar/backends/composite/write_out.h>
#include <boxcar/backends/meta/dims.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <vector>

// Products that are other products of reshaped operands.

namespace boxcar::composite {
namespace {

Tensor outer(const Tensor& self, const Tensor& vec2) {
  BOXCAR_CHECK(self.dim() == 1, "outer: Expected 1-D argument self, but got {}-D", self.dim());
  BOXCAR_CHECK(vec2.dim() == 1, "outer: Expected 1-D argument vec2, but got {}-D", vec2.dim());
  return boxcar::mul(boxcar::unsqueeze(self, 1), vec2);
}
Tensor& outerOut(const Tensor& self, const Tensor& vec2, Tensor& out) {
  return writeResult(out, boxcar::outer(self, vec2));
}

Tensor inner(const Tensor& self, const Tensor& other) {
  if (self.dim() == 0 || other.dim() == 0) return boxcar::mul(self, other);
  BOXCAR_CHECK(self.sizes().back() == other.sizes().back(),
               "inner() the last dimension must match on both input tensors but got shapes [{}] and [{}]",
               fmt::join(self.sizes(), ", "), fmt::join(other.sizes(), ", "));
  const int64_t last[] = {-1};
  return boxcar::tensordot(self, other, last, last);
}
Tensor& innerOut(const Tensor& self, const Tensor& other, Tensor& out) {
  if (self.dim() == 0 || other.dim() == 0) return boxcar::mul_out(out, self, other);
  return writeSameType(out, boxcar::inner(self, other));
}

Tensor tensordot(const Tensor& self, const Tensor& other, std::span<const int64_t> dims_self,
                 std::span<const int64_t> dims_other) {
  BOXCAR_CHECK(dims_self.size() == dims_other.size(),
               "both dimension lists should have same length, but they have {} and {} dimensions", dims_self.size(),
               dims_other.size());
  Tensor a = self;
  Tensor b = other;
  std::vector<bool> summed_a(static_cast<size_t>(a.dim()));
  std::vector<bool> summed_b(static_cast<size_t>(b.dim()));
  DimVector order_a;
  DimVector order_b;
  int64_t depth = 1;
  for (size_t i = 0; i < dims_self.size(); ++i) {
    const int64_t dim_a = wrapDimension(dims_self[i], self.dim());
    const int64_t dim_b = wrapDimension(dims_other[i], other.dim());
    const int64_t size_a = a.size(dim_a);
    const int64_t size_b = b.size(dim_b);
    const auto note = [&](std::vector<bool>& summed, int64_t dim) {
      BOXCAR_CHECK(!summed[static_cast<size_t>(dim)], "dim {} appears multiple times in the list of dims", dim);
      summed[static_cast<size_t>(dim)] = true;
    };
    note(summed_a, dim_a);
    note(summed_b, dim_b);
    // A dimension of size 1 matches any size: the other operand is summed over its dimension first.
    if (size_b == 1 && size_a != 1) {
      const int64_t dim[] = {dim_a};
      a = boxcar::sum(a, dim, /*keepdim=*/true, a.scalar_type());
    } else if (size_a == 1 && size_b != 1) {
      const int64_t dim[] = {dim_b};
      b = boxcar::sum(b, dim, /*keepdim=*/true, b.scalar_type());
    } else {
      BOXCAR_CHECK(size_a == size_b,
                   "contracted dimensions need to match, but first has size {} in dim {} and second has size {} in dim "
                   "{}",
                   size_a, dims_self[i], size_b, dims_other[i]);
      depth *= size_a;
    }
    order_a.push_back(dim_a);
    order_b.push_back(dim_b);
  }
  DimVector sizes;
  DimVector rows;
  DimVector columns;
  for (size_t i = 0; i < summed_a.size(); ++i) {
    if (summed_a[i]) continue;
    rows.push_back(static_cast<int64_t>(i));
    sizes.push_back(a.sizes()[i]);
  }
  const int64_t row_count = numelOf(sizes);
  DimVector right_sizes;
  for (size_t i = 0; i < summed_b.size(); ++i) {
    if (summed_b[i]) continue;
    columns.push_back(static_cast<int64_t>(i));
    right_sizes.push_back(b.sizes()[i]);
  }
  const int64_t column_count = numelOf(right_sizes);
  sizes.insert(sizes.end(), right_sizes.begin(), right_sizes.end());
  rows.insert(rows.end(), order_a.begin(), order_a.end());
  order_b.insert(order_b.end(), columns.begin(), columns.end());
  const int64_t left_size[] = {row_count, depth};
  const int64_t right_size[] = {depth, column_count};
  const Tensor product = boxcar::mm(boxcar::reshape(boxcar::permute(a, rows), left_size),
                                    boxcar::reshape(boxcar::permute(b, order_b), right_size));
  return boxcar::reshape(product, sizes);
}
Tensor& tensordotOut(const Tensor& self, const Tensor& other, std::span<const int64_t> dims_self,
                     std::span<const int64_t> dims_other, Tensor& out) {
  return writeSameType(out, boxcar::tensordot(self, other, dims_self, dims_other));
}

// Multiplies each element of [self] with all of [other]: interleaves the sizes, multiplies with broadcasting, and
// merges.
Tensor kron(const Tensor& self, const Tensor& other) {
  const int64_t rank = std::max(self.dim(), other.dim());
  DimVector self_sizes;
  DimVector other_sizes;
  DimVector sizes;
  for (int64_t i = 0; i < rank; ++i) {
    const int64_t in_self = i - (rank - self.dim());
    const int64_t in_other = i - (rank - other.dim());
    const int64_t a = in_self >= 0 ? self.size(in_self) : 1;
    const int64_t b = in_other >= 0 ? other.size(in_other) : 1;
    self_sizes.insert(self_sizes.end(), {a, 1});
    other_sizes.insert(other_sizes.end(), {1, b});
    int64_t size = 0;
    BOXCAR_CHECK(!__builtin_mul_overflow(a, b, &size),
                 "kron: the sizes {} and {} of dimension {} have a product that is too large", a, b, i);
    sizes.push_back(size);
  }
  return boxcar::reshape(boxcar::mul(boxcar::reshape(self, self_sizes), boxcar::reshape(other, other_sizes)), sizes);
}
Tensor& kronOut(const Tensor& self, const Tensor& other, Tensor& out) {
  return writeResult(out, boxcar::kron(self, other));
}

// Uses binary exponentiation: one product per bit of the exponent, and another one for each bit that is set.
Tensor matrixPower(const Tensor& self, int64_t n) {
  BOXCAR_CHECK(self.dim() >= 2,
               "linalg.matrix_power: The input tensor A must have at least 2 dimensions, but it has {}.", self.dim());
  const auto sizes = self.sizes().last(2);
  BOXCAR_CHECK(sizes[0] == sizes[1],
               "linalg.matrix_power: A must be batches of square matrices, but they are {} by {} matrices", sizes[0],
               sizes[1]);
  BOXCAR_CHECK(n != std::numeric_limits<int64_t>::min(), "linalg.matrix_power: the exponent {} is out of range", n);
  if (n == 0) {
    const Tensor identity = boxcar::eye(sizes[0], self.scalar_type(), std::nullopt, self.device());
    Tensor result = boxcar::clone(self, MemoryFormat::Contiguous);  // which gives self a gradient of zeros
    return boxcar::copy_(result, identity);
  }
  if (n == 1) return boxcar::clone(self);
  Tensor square = n < 0 ? boxcar::linalg_inv(self) : self;
  int64_t left = n < 0 ? -n : n;
  if (left == 1) return square;
  if (left == 3) return boxcar::matmul(boxcar::matmul(square, square), square);
  std::optional<Tensor> result;
  for (;; square = boxcar::matmul(square, square)) {
    if (left % 2 != 0) result = result.has_value() ? boxcar::matmul(*result, square) : square;
    left /= 2;
    if (left == 0) return *result;
  }
}
// A result that is a copy, not a product, may be cast.
Tensor& matrixPowerOut(const Tensor& self, int64_t n, Tensor& out) {
  const Tensor result = matrixPower(self, n);
  return n == 0 || n == 1 ? writeResult(out, result) : writeSameType(out, result);
}

Tensor linalgMatmul(const Tensor& self, const Tensor& other) { return boxcar::matmul(self, other); }
Tensor& linalgMatmulOut(const Tensor& self, const Tensor& other, Tensor& out) {
  return boxcar::matmul_out(out, self, other);
}

// Without [dim], uses the first dimension of size 3.
int64_t crossDimension(const Tensor& self, std::optional<int64_t> dim) {
  if (dim.has_value()) return *dim;
  const auto found = std::ranges::find(self.sizes(), 3);
  BOXCAR_CHECK(found != self.sizes().end(), "no dimension of size 3 in input of sizes [{}]",
               fmt::join(self.sizes(), ", "));
  return found - self.sizes().begin();
}
Tensor cross(const Tensor& self, const Tensor& other, std::optional<int64_t> dim) {
  return boxcar::linalg_cross(self, other, crossDimension(self, dim));
}
Tensor& crossOut(const Tensor& self, const Tensor& other, std::optional<int64_t> dim, Tensor& out) {
  return boxcar::linalg_cross_out(out, self, other, crossDimension(self, dim));
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) {
  m.impl("outer", BOXCAR_FN(outer));
  m.impl("outer.out", BOXCAR_FN(outerOut));
  m.impl("ger", BOXCAR_FN(outer));
  m.impl("ger.out", BOXCAR_FN(outerOut));
  m.impl("inner", BOXCAR_FN(inner));
  m.impl("inner.out", BOXCAR_FN(innerOut));
  m.impl("tensordot", BOXCAR_FN(tensordot));
  m.impl("tensordot.out", BOXCAR_FN(tensordotOut));
  m.impl("kron", BOXCAR_FN(kron));
  m.impl("kron.out", BOXCAR_FN(kronOut));
  m.impl("matrix_power", BOXCAR_FN(matrixPower));
  m.impl("matrix_power.out", BOXCAR_FN(matrixPowerOut));
  m.impl("linalg_matrix_power", BOXCAR_FN(matrixPower));
  m.impl("linalg_matrix_power.out", BOXCAR_FN(matrixPowerOut));
  m.impl("linalg_matmul", BOXCAR_FN(linalgMatmul));
  m.impl("linalg_matmul.out", BOXCAR_FN(linalgMatmulOut));
  m.impl("cross", BOXCAR_FN(cross));
  m.impl("cross.out", BOXCAR_FN(crossOut));
}

}  // namespace boxcar::composite
