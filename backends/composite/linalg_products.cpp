#include <boxcar/backends/composite/dtype.h>
#include <boxcar/backends/composite/write_out.h>
#include <boxcar/backends/meta/dims.h>
#include <boxcar/backends/meta/linalg.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

// Chains of matrix products, matrix exponentials, equations of tensors, and other products of linear algebra.

namespace boxcar::composite {
namespace {

// Products of several matrices.

// The order of the multiplications of a chain that needs the fewest operations, for matrices i of sizes[i] by
// sizes[i + 1].
class ChainOrder final {
 public:
  explicit ChainOrder(const std::vector<int64_t>& sizes) : count_(sizes.size() - 1), split_(count_ * count_) {
    std::vector<double> costs(count_ * count_, 0);
    for (size_t length = 1; length < count_; ++length) {
      for (size_t first = 0; first + length < count_; ++first) {
        const size_t last = first + length;
        double least = std::numeric_limits<double>::infinity();
        for (size_t k = first; k < last; ++k) {
          const double cost = costs[first * count_ + k] + costs[(k + 1) * count_ + last] +
                              static_cast<double>(sizes[first]) * static_cast<double>(sizes[k + 1]) *
                                  static_cast<double>(sizes[last + 1]);
          if (!(cost < least)) continue;
          least = cost;
          split_[first * count_ + last] = k;
        }
        costs[first * count_ + last] = least;
      }
    }
  }

  Tensor product(const std::vector<Tensor>& matrices, size_t first, size_t last) const {
    if (first == last) return matrices[first];
    const size_t k = split_[first * count_ + last];
    return boxcar::mm(product(matrices, first, k), product(matrices, k + 1, last));
  }

 private:
  size_t count_;
  std::vector<size_t> split_;
};

Tensor multiDot(TensorList tensors) {
  BOXCAR_CHECK(tensors.size() >= 2, "multi_dot(): expected at least 2 tensors but got {}", tensors.size());
  std::vector<Tensor> matrices;
  std::vector<int64_t> sizes;
  DimVector result_sizes;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& tensor = tensors[i];
    const bool first = i == 0, last = i + 1 == tensors.size();
    BOXCAR_CHECK(tensor.dim() == 2 || (tensor.dim() == 1 && (first || last)),
                 "multi_dot(): tensor {} must be 2D{} but got {}D", i, first || last ? " or 1D" : "", tensor.dim());
    BOXCAR_CHECK(tensor.scalar_type() == tensors[0].scalar_type(),
                 "multi_dot(): all tensors must have the same dtype but tensor 0 is {} and tensor {} is {}",
                 dtypeName(tensors[0].scalar_type()), i, dtypeName(tensor.scalar_type()));
    matrices.push_back(tensor.dim() == 1 ? boxcar::unsqueeze(tensor, first ? 0 : 1) : tensor);
    const Tensor& matrix = matrices.back();
    BOXCAR_CHECK(first || sizes.back() == matrix.size(0),
                 "multi_dot(): tensors {} and {} with {} columns and {} rows cannot be multiplied", i - 1, i,
                 first ? 0 : sizes.back(), matrix.size(0));
    if (first) sizes.push_back(matrix.size(0));
    sizes.push_back(matrix.size(1));
    if (tensor.dim() == 2 && first) result_sizes.push_back(matrix.size(0));
    if (tensor.dim() == 2 && last) result_sizes.push_back(matrix.size(1));
  }
  const Tensor product = ChainOrder(sizes).product(matrices, 0, matrices.size() - 1);
  return boxcar::reshape(product, result_sizes);
}
Tensor& multiDotOut(TensorList tensors, Tensor& out) { return writeSameType(out, multiDot(tensors)); }

Tensor chainMatmul(TensorList matrices) {
  BOXCAR_CHECK(!matrices.empty(), "chain_matmul(): Expected one or more matrices");
  for (size_t i = 0; i < matrices.size(); ++i) {
    BOXCAR_CHECK(matrices[i].dim() == 2, "chain_matmul(): matrix {} must be 2D but got {}D", i, matrices[i].dim());
  }
  return matrices.size() == 1 ? boxcar::clone(matrices[0]) : multiDot(matrices);
}
Tensor& chainMatmulOut(TensorList matrices, Tensor& out) { return writeResult(out, chainMatmul(matrices)); }

// Exponentials.

// The Taylor polynomial of degree 16 in four blocks, so that it needs six products: powers up to a^4, and then steps of
// a^4.
Tensor taylorExponential(const Tensor& a, const Tensor& identity) {
  constexpr int kStep = 4;
  const Tensor square = boxcar::matmul(a, a);
  const Tensor powers[kStep + 1] = {identity, a, square, boxcar::matmul(square, a), boxcar::matmul(square, square)};
  double factorial = 1;
  for (int i = 2; i <= kStep * kStep; ++i) factorial *= i;
  Tensor sum = boxcar::mul(powers[kStep], 1 / factorial);
  for (int block = kStep - 1; block >= 0; --block) {
    if (block < kStep - 1) sum = boxcar::matmul(sum, powers[kStep]);
    for (int i = kStep - 1; i >= 0; --i) {
      factorial /= kStep * block + i + 1;
      sum = boxcar::add(sum, powers[i], 1 / factorial);
    }
  }
  return sum;
}

// e^a = (e^(a / 2^s))^(2^s), with s for each matrix so that its norm is small enough for the polynomial.
Tensor scaledExponential(const Tensor& a) {
  const bool single = a.scalar_type() == ScalarType::Float || a.scalar_type() == ScalarType::ComplexFloat;
  const double most = single ? 2 : 0.75;  // the remainder is then less than a rounding error
  const int64_t dims[] = {-2, -1};
  const Tensor norm = boxcar::linalg_norm(a, 1, dims, /*keepdim=*/true);
  const Tensor wanted = boxcar::clamp(boxcar::ceil(boxcar::log2(boxcar::div(norm, most))), 0);
  // Without a finite norm the result is NaN, whatever the scale.
  const Tensor finite = boxcar::isfinite(norm);
  const Tensor steps = boxcar::where(finite, wanted, 0);
  const Tensor scale = boxcar::where(finite, boxcar::exp2(boxcar::neg(steps)), std::nan(""));
  const Tensor identity = boxcar::eye(a.size(-1), a.scalar_type(), std::nullopt, a.device());
  Tensor result = taylorExponential(boxcar::mul(a, scale), identity);
  const auto count = static_cast<int64_t>(boxcar::item(boxcar::max(steps)).toDouble());
  const bool several = steps.numel() > 1;
  for (int64_t i = 0; i < count; ++i) {
    const Tensor squared = boxcar::matmul(result, result);
    result = several ? boxcar::where(boxcar::gt(steps, i), squared, result) : squared;
  }
  return result;
}

Tensor matrixExp(const Tensor& self) {
  BOXCAR_CHECK(self.is_floating_point() || self.is_complex(),
               "linalg.matrix_exp: Expected a floating point or complex tensor as input. Got {}",
               dtypeName(self.scalar_type()));
  BOXCAR_CHECK(self.dim() >= 2, "linalg.matrix_exp: The input tensor A must have at least 2 dimensions, but it has {}.",
               self.dim());
  BOXCAR_CHECK(self.size(-1) == self.size(-2),
               "linalg.matrix_exp: A must be batches of square matrices, but they are {} by {} matrices", self.size(-2),
               self.size(-1));
  if (self.is_meta() || self.numel() == 0) return boxcar::new_empty(self, self.sizes());
  if (self.size(-1) == 1) return boxcar::contiguous(boxcar::exp(self));
  return boxcar::contiguous(converted(scaledExponential(widened(self)), self.scalar_type()));
}
Tensor& matrixExpOut(const Tensor& self, Tensor& out) { return writeSameType(out, boxcar::linalg_matrix_exp(self)); }
// The exponential of [[A^H, G], [0, A^H]] has the derivative of exp at A^H, in the direction of G, at the place of G.
Tensor matrixExpBackward(const Tensor& self, const Tensor& grad) {
  meta::checkSquareMatrices("matrix_exp_backward", self);
  BOXCAR_CHECK(std::ranges::equal(self.sizes(), grad.sizes()),
               "matrix_exp_backward: grad must have the sizes of self, [{}], but it has [{}]",
               fmt::join(self.sizes(), ", "), fmt::join(grad.sizes(), ", "));
  const int64_t size = self.size(-1);
  const Tensor adjoint = boxcar::adjoint(self);
  const Tensor blocks[] = {boxcar::cat({adjoint, grad}, -1), boxcar::cat({boxcar::zeros_like(adjoint), adjoint}, -1)};
  const Tensor exponential = boxcar::linalg_matrix_exp(boxcar::cat(blocks, -2));
  return boxcar::narrow(boxcar::narrow(exponential, -2, 0, size), -1, size, size);
}
Tensor oldMatrixExp(const Tensor& self) { return boxcar::linalg_matrix_exp(self); }

// Equations of tensors.

Tensor tensorInv(const Tensor& self, int64_t ind) {
  BOXCAR_CHECK(ind > 0 && ind <= self.dim(),
               "linalg.tensorinv: 'ind' must be from 1 to the dimensions of self, {}, but it is {}", self.dim(), ind);
  const auto rows = self.sizes().first(static_cast<size_t>(ind));
  const auto columns = self.sizes().subspan(static_cast<size_t>(ind));
  const int64_t size = numelOf(rows);
  BOXCAR_CHECK(
      numelOf(columns) == size,
      "Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got {} != {}",
      numelOf(columns), size);
  DimVector result_sizes = toDimVector(columns);
  result_sizes.insert(result_sizes.end(), rows.begin(), rows.end());
  const int64_t square[] = {size, size};
  return boxcar::reshape(boxcar::linalg_inv(boxcar::reshape(self, square)), result_sizes);
}
Tensor& tensorInvOut(const Tensor& self, int64_t ind, Tensor& out) { return writeSameType(out, tensorInv(self, ind)); }

Tensor tensorSolve(const Tensor& self, const Tensor& other, std::optional<std::span<const int64_t>> dims) {
  Tensor moved = self;
  if (dims.has_value()) {
    std::vector<int64_t> to(dims->size());
    std::iota(to.begin(), to.end(), self.dim() - static_cast<int64_t>(dims->size()));
    moved = boxcar::movedim(self, *dims, to);
  }
  BOXCAR_CHECK(other.dim() <= moved.dim(),
               "linalg.tensorsolve: other has {} dimensions, and self must have as many, but it has {}", other.dim(),
               moved.dim());
  const auto equations = moved.sizes().first(static_cast<size_t>(other.dim()));
  const auto unknowns = moved.sizes().subspan(static_cast<size_t>(other.dim()));
  const int64_t size = numelOf(unknowns);
  BOXCAR_CHECK(
      numelOf(equations) == size,
      "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), "
      "but got {} != {}",
      size, numelOf(equations));
  const int64_t square[] = {size, size};
  const Tensor solution = boxcar::linalg_solve(boxcar::reshape(moved, square), boxcar::flatten(other));
  return boxcar::reshape(solution, unknowns);
}
Tensor& tensorSolveOut(const Tensor& self, const Tensor& other, std::optional<std::span<const int64_t>> dims,
                       Tensor& out) {
  return writeSameType(out, tensorSolve(self, other, dims));
}

// Vectors and diagonals.

// Returns the powers 0 to n - 1 of each element, in a new last dimension.
Tensor firstPowers(const Tensor& x, int64_t n) {
  DimVector sizes = toDimVector(x.sizes());
  sizes.push_back(n - 1);
  const Tensor powers = boxcar::cumprod(boxcar::expand(boxcar::unsqueeze(x, -1), sizes), -1);
  sizes.back() = 1;
  const Tensor both[] = {boxcar::ones(sizes, powers.scalar_type(), std::nullopt, x.device()), powers};
  return boxcar::cat(both, -1);
}

Tensor vander(const Tensor& self, std::optional<int64_t> count) {
  const Tensor x = self.dim() > 0 ? self : boxcar::unsqueeze(self, 0);
  const ScalarType type = x.scalar_type();
  BOXCAR_CHECK(type == ScalarType::Float || type == ScalarType::Double || isComplexType(type) ||
                   isIntegralType(type, /*includeBool=*/false),
               "linalg.vander supports floating point, complex, and integer tensors, but got {}", type);
  const int64_t n = count.value_or(x.size(-1));
  BOXCAR_CHECK(n > 1, "linalg.vander: N, the number of powers, must be greater than 1, but it is {}", n);
  return firstPowers(x, n);
}

Tensor vanderColumns(const Tensor& x, std::optional<int64_t> count, bool increasing) {
  BOXCAR_CHECK(x.dim() == 1, "vander: expected x of one dimension, but it has {}", x.dim());
  const int64_t n = count.value_or(x.size(0));
  BOXCAR_CHECK(n >= 0, "vander: N, the number of columns, must not be negative, but it is {}", n);
  const Tensor wide = boxcar::to(x, promoteTypes(x.scalar_type(), ScalarType::Long));
  if (n < 2) return boxcar::new_ones(wide, dimVector(x.size(0), n));
  const Tensor powers = firstPowers(wide, n);
  return increasing ? powers : boxcar::flip(powers, {1});
}

Tensor vecdot(const Tensor& x, const Tensor& y, int64_t dim) {
  BOXCAR_CHECK(x.is_floating_point() || x.is_complex(),
               "linalg.vecdot: Expected a floating point or complex tensor as input. Got {}", x.scalar_type());
  BOXCAR_CHECK(
      x.scalar_type() == y.scalar_type(),
      "linalg.vecdot: Expected x and y to have the same dtype, but found x of type {} and y of type {} instead",
      x.scalar_type(), y.scalar_type());
  if (x.dim() == 1 && y.dim() == 1 && x.size(0) == y.size(0)) return boxcar::vdot(x, y);
  return boxcar::sum(boxcar::mul(x.is_complex() ? boxcar::conj_physical(x) : x, y), std::span(&dim, 1));
}
Tensor& vecdotOut(const Tensor& x, const Tensor& y, int64_t dim, Tensor& out) {
  return writeSameType(out, vecdot(x, y, dim));
}

Tensor linalgDiagonal(const Tensor& a, int64_t offset, int64_t dim1, int64_t dim2) {
  return boxcar::diagonal(a, offset, dim1, dim2);
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) {
  m.impl("linalg_multi_dot", BOXCAR_FN(multiDot));
  m.impl("linalg_multi_dot.out", BOXCAR_FN(multiDotOut));
  m.impl("chain_matmul", BOXCAR_FN(chainMatmul));
  m.impl("chain_matmul.out", BOXCAR_FN(chainMatmulOut));
  m.impl("matrix_exp", BOXCAR_FN(oldMatrixExp));
  m.impl("matrix_exp_backward", BOXCAR_FN(matrixExpBackward));
  m.impl("linalg_tensorinv", BOXCAR_FN(tensorInv));
  m.impl("linalg_tensorinv.out", BOXCAR_FN(tensorInvOut));
  m.impl("linalg_tensorsolve", BOXCAR_FN(tensorSolve));
  m.impl("linalg_tensorsolve.out", BOXCAR_FN(tensorSolveOut));
  m.impl("linalg_vander", BOXCAR_FN(vander));
  m.impl("vander", BOXCAR_FN(vanderColumns));
  m.impl("linalg_vecdot", BOXCAR_FN(vecdot));
  m.impl("linalg_vecdot.out", BOXCAR_FN(vecdotOut));
  m.impl("linalg_diagonal", BOXCAR_FN(linalgDiagonal));
}

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("linalg_matrix_exp", BOXCAR_FN(matrixExp));
  m.impl("linalg_matrix_exp.out", BOXCAR_FN(matrixExpOut));
}

}  // namespace boxcar::composite
