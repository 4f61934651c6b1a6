#include <boxcar/backends/autograd/formula_functions.h>
#include <boxcar/backends/autograd/formula_linalg.h>
#include <boxcar/backends/meta/dims.h>

#include <algorithm>
#include <complex>
#include <limits>

// Functions of formulas of solutions, inverses and determinants. What a decomposition gave is used again only where the
// gradient need not be differentiable: it has no history.

namespace boxcar::autograd {
namespace {

using Pair = std::tuple<Tensor, Tensor>;

Tensor product(const Tensor& a, const Tensor& b) { return boxcar::matmul(a, b); }
Tensor product(const Tensor& a, const Tensor& b, const Tensor& c) { return boxcar::matmul(boxcar::matmul(a, b), c); }

// Whether [a]'s own factors are those of its transpose.
bool isFactoredTransposed(const Tensor& a) { return a.is_contiguous() && !a.is_complex(); }

// The matrices scale * I.
Tensor scaledIdentity(const Tensor& scale, const Tensor& like) {
  const Tensor is_diagonal = boxcar::eye(like.size(-1), ScalarType::Bool, std::nullopt, like.device());
  return boxcar::where(is_diagonal, boxcar::unsqueeze(boxcar::unsqueeze(scale, -1), -1), 0);
}

// The conjugate of the adjugate, times [scale], of singular matrices.
Tensor scaledCofactors(const Tensor& a, const Tensor& scale) {
  const auto [u, s, vh] = boxcar::linalg_svd(a);
  const Tensor sign = conjugate(boxcar::linalg_det(u) * boxcar::linalg_det(vh));
  const Tensor is_diagonal = boxcar::eye(a.size(-1), ScalarType::Bool, std::nullopt, a.device());
  // In each row, all singular values but one.
  const Tensor others = boxcar::masked_fill(boxcar::expand(boxcar::unsqueeze(s, -2), a.sizes()), is_diagonal, 1);
  const Tensor products = boxcar::prod(others, -1) * boxcar::unsqueeze(scale * sign, -1);
  return product(u * boxcar::unsqueeze(products, -2), vh);
}

// The gradient of det for gradients of it that are differentiable again.
Tensor differentiableDetA(const Tensor& grad, const Tensor& det, const Tensor& a) {
  const auto regular = [](const Tensor& matrices, const Tensor& scale) {
    return boxcar::linalg_solve(boxcar::adjoint(matrices), scaledIdentity(scale, matrices));
  };
  const bool is_float = toRealValueType(a.scalar_type()) == ScalarType::Float;
  const double epsilon = is_float ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon();
  const Tensor is_singular = boxcar::lt(boxcar::abs(det), 100 * epsilon);
  const int64_t singular = boxcar::item(boxcar::sum(is_singular)).toLong();
  if (singular == 0) return regular(a, grad * conjugate(det));
  if (singular == det.numel()) return scaledCofactors(a, grad);
  // Those of both kinds one after the other, and back.
  const Tensor order = boxcar::argsort(boxcar::to(boxcar::flatten(is_singular), ScalarType::Int));
  const int64_t rest = det.numel() - singular;
  const int64_t n = a.size(-1);
  const auto sorted = [&](const Tensor& x, bool is_matrix) {
    const int64_t sizes[] = {-1, n, n};
    return boxcar::index_select(boxcar::reshape(x, std::span(sizes).first(is_matrix ? 3 : 1)), 0, order);
  };
  const Tensor matrices = sorted(a, true);
  const Tensor scales = sorted(boxcar::expand(grad, det.sizes()), false);
  const Tensor dets = sorted(det, false);
  const Tensor parts[] = {
      regular(boxcar::narrow(matrices, 0, 0, rest),
              boxcar::narrow(scales, 0, 0, rest) * conjugate(boxcar::narrow(dets, 0, 0, rest))),
      scaledCofactors(boxcar::narrow(matrices, 0, rest, singular), boxcar::narrow(scales, 0, rest, singular))};
  return boxcar::reshape(boxcar::index_select(boxcar::cat(parts, 0), 0, boxcar::argsort(order)), a.sizes());
}

// Returns the part of [gradient] that belongs to a triangular matrix.
Tensor triangle(const Tensor& gradient, bool upper, bool unitriangular) {
  return upper ? boxcar::triu(gradient, unitriangular ? 1 : 0) : boxcar::tril(gradient, unitriangular ? -1 : 0);
}

Tensor column(const Tensor& x, bool is_vector) { return is_vector && x.defined() ? boxcar::unsqueeze(x, -1) : x; }

}  // namespace

Tensor det_a(const Tensor& grad, const Tensor& det, const Tensor& a, const Tensor& lu, const Tensor& pivots) {
  if (a.numel() == 0) return boxcar::zeros_like(a);
  if (isDifferentiated()) return differentiableDetA(grad, det, a);
  // A^H G = conj(det) grad I. A zero on the diagonal makes det zero, too: any other number gives G = 0.
  const Tensor diagonal = boxcar::diagonal(lu, 0, -2, -1);
  const bool is_float = toRealValueType(a.scalar_type()) == ScalarType::Float;
  const double epsilon = is_float ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon();
  const Tensor is_diagonal = boxcar::eye(a.size(-1), ScalarType::Bool, std::nullopt, a.device());
  const Tensor is_zero = boxcar::logical_and(is_diagonal, boxcar::unsqueeze(boxcar::eq(diagonal, 0), -1));
  return boxcar::linalg_lu_solve(boxcar::masked_fill(lu, is_zero, epsilon), pivots,
                                 scaledIdentity(grad * conjugate(det), a), /*left=*/true,
                                 /*adjoint=*/!isFactoredTransposed(a));
}

Tensor slogdet_a(const Tensor& grad_sign, const Tensor& grad_logarithm, const Tensor& a, const Tensor& sign,
                 const Tensor& lu, const Tensor& pivots) {
  // The sign of real determinants does not change.
  Tensor scale = grad_logarithm;
  if (a.is_complex() && grad_sign.defined()) {
    // The logarithm of sign is imaginary.
    scale = scale - boxcar::mul(boxcar::imag(conjugate(grad_sign) * sign), Scalar(std::complex<double>(0, 1)));
  }
  if (!scale.defined()) return {};
  if (a.numel() == 0) return boxcar::zeros_like(a);
  if (scale.scalar_type() != a.scalar_type()) scale = boxcar::to(scale, a.scalar_type());
  const Tensor diagonal = scaledIdentity(scale, a);
  if (isDifferentiated()) return boxcar::linalg_solve(boxcar::adjoint(a), diagonal);
  return boxcar::linalg_lu_solve(lu, pivots, diagonal, /*left=*/true, /*adjoint=*/!isFactoredTransposed(a));
}

Pair solve_both(const Tensor& grad, const Tensor& x, const Tensor& a, std::span<const int64_t> b_sizes,
                const Tensor& lu, const Tensor& pivots, bool left, std::span<const bool> needed) {
  const auto batch = a.sizes().first(a.sizes().size() - 1);
  const bool is_vector = b_sizes.size() == 1 || std::ranges::equal(batch, b_sizes);
  const Tensor gradient = column(grad, is_vector);
  const Tensor grad_b = isDifferentiated() ? boxcar::linalg_solve(boxcar::adjoint(a), gradient, left)
                                           : boxcar::linalg_lu_solve(lu, pivots, gradient, left, /*adjoint=*/true);
  Pair result;
  if (needed[0]) {
    const Tensor xh = boxcar::adjoint(column(x, is_vector));
    std::get<0>(result) = -(left ? product(grad_b, xh) : product(xh, grad_b));
  }
  if (needed[1]) std::get<1>(result) = is_vector ? boxcar::squeeze(grad_b, -1) : grad_b;
  return result;
}

Tensor lu_solve_lu(const Tensor& grad, const Tensor& lu, const Tensor& pivots, const Tensor& x, bool left,
                   bool adjoint) {
  // First of A = P L U, where op(A) X = B or X op(A) = B.
  const Tensor grad_b = boxcar::linalg_lu_solve(lu, pivots, grad, left, !adjoint);
  const Tensor& first = left == adjoint ? x : grad_b;
  const Tensor& second = left == adjoint ? grad_b : x;
  const Tensor grad_a = -(left ? product(first, boxcar::adjoint(second)) : product(boxcar::adjoint(first), second));
  const auto [p, l, u] = boxcar::lu_unpack(lu, pivots);
  const Tensor permuted = product(boxcar::transpose(p, -2, -1), grad_a);
  return boxcar::tril(product(permuted, boxcar::adjoint(u)), -1) + boxcar::triu(product(boxcar::adjoint(l), permuted));
}

Pair solve_triangular_both(const Tensor& grad, const Tensor& a, const Tensor& x, bool upper, bool left,
                           bool unitriangular, std::span<const bool> needed) {
  Pair result;
  Tensor& grad_b = std::get<1>(result);
  grad_b = boxcar::linalg_solve_triangular(boxcar::adjoint(a), grad, !upper, left, unitriangular);
  if (needed[0]) {
    const Tensor xh = boxcar::adjoint(x);
    std::get<0>(result) = -triangle(left ? product(grad_b, xh) : product(xh, grad_b), upper, unitriangular);
  }
  return result;
}

Pair triangular_solve_both(const Tensor& grad_x, const Tensor& grad_copy, const Tensor& a, const Tensor& x, bool upper,
                           bool transposed, bool unitriangular, std::span<const bool> needed) {
  Tensor grad_b;
  Tensor grad_a;
  if (grad_x.defined()) {
    grad_b = std::get<0>(boxcar::triangular_solve(grad_x, conjugate(a), upper, !transposed, unitriangular));
    if (needed[1]) {
      grad_a = -(transposed ? product(conjugate(x), boxcar::transpose(grad_b, -2, -1))
                            : product(grad_b, boxcar::adjoint(x)));
      grad_a = triangle(grad_a, upper, unitriangular);
    }
  }
  return {grad_b, grad_a + grad_copy};
}

Tensor cholesky_self(const Tensor& grad, bool upper, const Tensor& factor) {
  const Tensor l = upper ? boxcar::adjoint(factor) : factor;
  const Tensor lh = boxcar::adjoint(l);
  const Tensor inner = boxcar::tril(product(lh, upper ? boxcar::adjoint(grad) : grad));
  const Tensor symmetric = 0.5 * (inner + boxcar::adjoint(boxcar::tril(inner, -1)));
  const Tensor half = boxcar::linalg_solve_triangular(lh, symmetric, /*upper=*/true, /*left=*/true);
  return boxcar::linalg_solve_triangular(l, half, /*upper=*/false, /*left=*/false);
}

Pair cholesky_solve_both(const Tensor& grad, const Tensor& factor, const Tensor& x, bool upper,
                         std::span<const bool> needed) {
  Pair result;
  auto& [grad_b, grad_factor] = result;
  grad_b = boxcar::cholesky_solve(grad, factor, upper);
  if (needed[1]) {
    const Tensor half = product(grad_b, boxcar::adjoint(x));
    const Tensor both = half + boxcar::adjoint(half);
    grad_factor = -(upper ? product(factor, both) : product(both, factor));
  }
  return result;
}

Tensor cholesky_inverse_self(const Tensor& grad, const Tensor& factor, bool upper, const Tensor& inverse) {
  const Tensor both = product(inverse, grad + boxcar::adjoint(grad), inverse);
  return -(upper ? product(factor, both) : product(both, factor));
}

Tensor pinv_self(const Tensor& grad, const Tensor& pinv, const Tensor& a) {
  const Tensor pinvh = boxcar::adjoint(pinv);
  const Tensor gradh = boxcar::adjoint(grad);
  // The products are taken in the order that makes the smaller matrices.
  if (a.size(-2) <= a.size(-1)) {
    const Tensor k = product(gradh, pinv);
    const Tensor k_pinvh = product(k, pinvh);
    return k_pinvh - boxcar::adjoint(product(pinv, k)) - product(product(a, pinv), k_pinvh) +
           product(product(pinvh, pinv), gradh - product(k, a));
  }
  const Tensor k = product(pinv, gradh);
  const Tensor pinvh_k = product(pinvh, k);
  return product(product(gradh - product(a, k), pinv), pinvh) - boxcar::adjoint(product(k, pinv)) + pinvh_k -
         product(product(pinvh_k, pinv), a);
}

Pair lstsq_both(const Tensor& grad_x, const Tensor& grad_residuals, const Tensor& a, const Tensor& b, const Tensor& x,
                std::span<const bool> needed) {
  const bool is_vector = a.dim() - 1 == b.dim();
  const Tensor matrix_b = column(b, is_vector);
  const Tensor matrix_x = column(x, is_vector);
  Tensor grad_a;
  Tensor grad_b;
  if (grad_x.defined()) {
    // x = pinv(a) b
    const Tensor gradient = column(grad_x, is_vector);
    const Tensor pinv = boxcar::linalg_pinv(a, std::optional<double>(), std::optional<double>());
    if (needed[0]) grad_a = pinv_self(product(gradient, boxcar::adjoint(matrix_b)), pinv, a);
    if (needed[1]) grad_b = product(boxcar::adjoint(pinv), gradient);
  }
  if (grad_residuals.defined() && grad_residuals.numel() > 0) {
    // The derivative after x is zero, because x minimises the residuals.
    const Tensor errors = product(a, matrix_x) - matrix_b;
    const Tensor each = 2 * boxcar::unsqueeze(grad_residuals, -2) * errors;
    if (needed[0]) grad_a = grad_a + product(each, boxcar::adjoint(matrix_x));
    if (needed[1]) grad_b = grad_b - each;
  }
  return {grad_a, is_vector && grad_b.defined() ? boxcar::squeeze(grad_b, -1) : grad_b};
}

}  // namespace boxcar::autograd
