#include <boxcar/backends/autograd/formula_functions.h>
#include <boxcar/backends/autograd/formula_linalg.h>
#include <boxcar/backends/meta/dims.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/storage_without_memory.h>

#include <algorithm>

// Functions of formulas of decompositions. A decomposition is differentiated as the equations that its factors satisfy:
// the product, and that they are orthogonal, triangular or diagonal.

namespace boxcar::autograd {
namespace {

using Pair = std::tuple<Tensor, Tensor>;

Tensor times(const Tensor& a, const Tensor& b) { return a.defined() && b.defined() ? boxcar::matmul(a, b) : Tensor(); }
// The product of the conjugate transpose of a and b.
Tensor adjointTimes(const Tensor& a, const Tensor& b) {
  return b.defined() ? boxcar::matmul(boxcar::adjoint(a), b) : Tensor();
}
// The product of a and the conjugate transpose of b.
Tensor timesAdjoint(const Tensor& a, const Tensor& b) {
  return a.defined() ? boxcar::matmul(a, boxcar::adjoint(b)) : Tensor();
}
Tensor skew(const Tensor& x) { return x.defined() ? x - boxcar::adjoint(x) : x; }

Tensor diagonalMask(const Tensor& square) {
  return boxcar::eye(square.size(-1), ScalarType::Bool, std::nullopt, square.device());
}
Tensor diagonalOf(const Tensor& square) { return boxcar::diagonal(square, 0, -2, -1); }
// The differences of [values], with ones on the diagonal: in row i and column j, value j minus value i.
Tensor differencesOf(const Tensor& values) {
  const Tensor differences = boxcar::unsqueeze(values, -2) - boxcar::unsqueeze(values, -1);
  return boxcar::masked_fill(differences, diagonalMask(differences), 1);
}

// Throws Error if the imaginary parts [phases] are not zero: a vector times a number of absolute value one is also one
// of the decomposition, and the derivative is defined only of functions that do not depend on it.
void checkPhases(const Tensor& phases, const char* op, const char* vectors) {
  if (lacksElements(phases)) return;
  BOXCAR_CHECK(boxcar::allclose(phases, boxcar::zeros_like(phases), 1e-2, 1e-2),
               "{}: The {} in the complex case are specified up to multiplication by e^{{i phi}}. The specified loss "
               "function depends on this quantity, so it is ill-defined; use absolute values, or products in which "
               "the phases cancel",
               op, vectors);
}

// Returns [x] with rows or columns of zeros at its end, up to [size] along [dim], which is -1 or -2.
Tensor padded(const Tensor& x, int64_t dim, int64_t size) {
  const int64_t added = size - x.size(dim);
  if (added == 0) return x;
  const int64_t columns[] = {0, added};
  const int64_t rows[] = {0, 0, 0, added};
  return boxcar::constant_pad_nd(x, dim == -1 ? std::span<const int64_t>(columns) : std::span<const int64_t>(rows));
}
Tensor firstColumns(const Tensor& x, int64_t count) {
  return x.defined() && x.size(-1) != count ? boxcar::narrow(x, -1, 0, count) : x;
}
Tensor firstRows(const Tensor& x, int64_t count) {
  return x.defined() && x.size(-2) != count ? boxcar::narrow(x, -2, 0, count) : x;
}
Tensor columnsFrom(const Tensor& x, int64_t first) {
  return x.defined() ? boxcar::narrow(x, -1, first, x.size(-1) - first) : x;
}
Tensor rowsFrom(const Tensor& x, int64_t first) {
  return x.defined() ? boxcar::narrow(x, -2, first, x.size(-2) - first) : x;
}

// X R^-H, with upper triangular R
Tensor dividedByAdjoint(const Tensor& x, const Tensor& r) {
  return boxcar::linalg_solve_triangular(boxcar::adjoint(r), x, /*upper=*/false, /*left=*/false);
}

// The X with H X + X H = [right] for Hermitian H = W diag(values) W^H.
Tensor sylvester(const Tensor& vectors, const Tensor& values, const Tensor& right) {
  const Tensor sums = boxcar::unsqueeze(values, -2) + boxcar::unsqueeze(values, -1);
  return timesAdjoint(times(vectors, adjointTimes(vectors, times(right, vectors)) / sums), vectors);
}

// The gradients of reflectors and factors from that of the first columns of their product, H_1 … H_k = I - V T V^H.
// V has the reflectors, with ones on the diagonal, and T = D (I + triu(V^H V, 1) D)^-1 with D = diag(tau).
Pair reflectionGradients(const Tensor& grad, const Tensor& input, const Tensor& tau) {
  const int64_t count = tau.size(-1);
  const Tensor ones = boxcar::eye(input.size(-2), count, input.scalar_type(), std::nullopt, input.device());
  const Tensor v = boxcar::tril(firstColumns(input, count), -1) + ones;
  const Tensor factors = boxcar::unsqueeze(tau, -2);  // of columns
  const Tensor products = boxcar::triu(adjointTimes(v, v), 1);
  const Tensor identity = boxcar::eye(count, input.scalar_type(), std::nullopt, input.device());
  const Tensor inverse = boxcar::linalg_solve_triangular(identity + products * factors, identity,
                                                         /*upper=*/true, /*left=*/true, /*unitriangular=*/true);
  const Tensor t = boxcar::unsqueeze(tau, -1) * inverse;
  const Tensor grad_product = -grad;                                     // of V T V^H E
  const Tensor right = firstColumns(boxcar::adjoint(v), grad.size(-1));  // V^H E
  const Tensor grad_t = timesAdjoint(adjointTimes(v, grad_product), right);
  const Tensor grad_m = -adjointTimes(t, timesAdjoint(grad_t, inverse));
  const Tensor grad_products = boxcar::triu(grad_m * conjugate(factors), 1);
  const Tensor grad_v = timesAdjoint(grad_product, times(t, right)) +
                        padded(adjointTimes(grad_product, times(v, t)), -2, v.size(-2)) +
                        times(v, grad_products + boxcar::adjoint(grad_products));
  const Tensor grad_tau = diagonalOf(timesAdjoint(grad_t, inverse) + adjointTimes(products, grad_m));
  return {padded(boxcar::tril(grad_v, -1), -1, input.size(-1)), grad_tau};
}

}  // namespace

Tensor eigen_a(const Tensor& grad_values, const Tensor& grad_vectors, const Tensor& values, const Tensor& vectors,
               bool hermitian) {
  if (!grad_values.defined() && !grad_vectors.defined()) return {};
  BOXCAR_CHECK(vectors.numel() > 0 || values.numel() == 0,
               "_linalg_eigh: the derivative needs the eigenvectors; call it with compute_v=True, or call "
               "linalg.eigvalsh");
  if (!grad_vectors.defined()) {
    if (hermitian) return timesAdjoint(vectors * boxcar::unsqueeze(grad_values, -2), vectors);
    return boxcar::linalg_solve(boxcar::adjoint(vectors),
                                boxcar::unsqueeze(grad_values, -1) * boxcar::adjoint(vectors));
  }
  const Tensor along = adjointTimes(vectors, grad_vectors);
  const Tensor diagonal = diagonalOf(along);
  if (vectors.is_complex()) {
    checkPhases(boxcar::imag(diagonal), hermitian ? "linalg_eigh_backward" : "linalg_eig_backward", "eigenvectors");
  }
  Tensor inner = along;
  if (!hermitian) {
    // The vectors stay of length one.
    const Tensor lengths = boxcar::unsqueeze(boxcar::real(diagonal), -2);
    inner = inner - adjointTimes(vectors, vectors) * lengths;
  }
  inner = inner / conjugate(differencesOf(values));
  const Tensor is_diagonal = diagonalMask(inner);
  inner = grad_values.defined() ? boxcar::where(is_diagonal, boxcar::unsqueeze(grad_values, -2), inner)
                                : boxcar::masked_fill(inner, is_diagonal, 0);
  const Tensor right = timesAdjoint(inner, vectors);
  if (!hermitian) return boxcar::linalg_solve(boxcar::adjoint(vectors), right);
  const Tensor result = times(vectors, right);
  return 0.5 * (result + boxcar::adjoint(result));
}

Tensor svd_a(const Tensor& all_grad_u, const Tensor& grad_s, const Tensor& all_grad_vh, const Tensor& all_u,
             const Tensor& s, const Tensor& all_vh) {
  if (!all_grad_u.defined() && !grad_s.defined() && !all_grad_vh.defined()) return {};
  BOXCAR_CHECK(all_u.numel() > 0 || s.numel() == 0,
               "_linalg_svd: the derivative needs the singular vectors; call it with compute_uv=True, or call "
               "linalg.svdvals");
  const int64_t k = s.size(-1);
  const Tensor grad_u = firstColumns(all_grad_u, k);
  const Tensor grad_vh = firstRows(all_grad_vh, k);
  const Tensor u = firstColumns(all_u, k);
  const Tensor vh = firstRows(all_vh, k);
  const int64_t m = u.size(-2);
  const int64_t n = vh.size(-1);
  const Tensor s_rows = boxcar::unsqueeze(s, -1);
  const Tensor s_columns = boxcar::unsqueeze(s, -2);
  if (!grad_u.defined() && !grad_vh.defined()) {
    return m >= n ? times(u, boxcar::unsqueeze(grad_s, -1) * vh) : times(u * boxcar::unsqueeze(grad_s, -2), vh);
  }
  const Tensor of_u = skew(adjointTimes(u, grad_u));
  const Tensor of_v = grad_vh.defined() ? skew(timesAdjoint(vh, grad_vh)) : Tensor();
  if (u.is_complex()) {
    checkPhases(boxcar::imag(diagonalOf(of_u + of_v)) / 2, "svd_backward", "singular vectors");
  }
  const Tensor differences = differencesOf(s * s);
  Tensor inner = (of_u * s_columns + s_rows * of_v) / differences;
  if (u.is_complex() && of_u.defined() && of_v.defined()) {
    // The phases of both sides are one.
    inner = boxcar::where(diagonalMask(inner), of_u / (2 * s_rows), inner);
  } else {
    inner = boxcar::masked_fill(inner, diagonalMask(inner), 0);
  }
  if (grad_s.defined()) inner = inner + boxcar::where(diagonalMask(inner), boxcar::unsqueeze(grad_s, -1), 0);
  if (m > k && grad_u.defined()) {
    // What is orthogonal to the columns of u.
    const Tensor scaled_u = grad_u / s_columns;
    return times(times(u, inner) + scaled_u - times(u, adjointTimes(u, scaled_u)), vh);
  }
  if (n > k && grad_vh.defined()) {
    const Tensor scaled_vh = grad_vh / s_rows;
    return times(u, times(inner, vh) + scaled_vh - times(timesAdjoint(scaled_vh, vh), vh));
  }
  return m >= n ? times(u, times(inner, vh)) : times(times(u, inner), vh);
}

Tensor qr_a(const Tensor& grad_q, const Tensor& grad_r, const Tensor& q, const Tensor& r, std::string_view mode) {
  if (!grad_q.defined() && !grad_r.defined()) return {};
  BOXCAR_CHECK(mode != "r",
               "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use "
               "linalg.qr(A, mode='reduced') if you are going to differentiate through linalg.qr.");
  const int64_t m = q.size(-2);
  const int64_t n = r.size(-1);
  BOXCAR_CHECK(mode != "complete" || m <= n,
               "The QR decomposition is not differentiable when mode='complete' and nrows > ncols; use "
               "mode='reduced'");
  // The gradient of the triangle, as that of a Hermitian matrix.
  const auto symmetric = [](const Tensor& x) {
    const Tensor upper = boxcar::triu(x);
    const Tensor both = upper + boxcar::adjoint(upper);
    return boxcar::where(diagonalMask(both), both / 2, both);
  };
  if (m >= n) {
    const Tensor inner = timesAdjoint(grad_r, r) - adjointTimes(q, grad_q);
    return dividedByAdjoint(grad_q + times(q, symmetric(inner)), r);
  }
  // A = [A1 A2], where A1 is square, R = [R1 R2], and R2 = Q^H A2.
  const Tensor r1 = firstColumns(r, m);
  const Tensor r2 = columnsFrom(r, m);
  const Tensor grad_r2 = columnsFrom(grad_r, m);
  const Tensor along = adjointTimes(q, grad_q) + (grad_r2.defined() ? timesAdjoint(r2, grad_r2) : Tensor());
  const Tensor inner = timesAdjoint(firstColumns(grad_r, m), r1) - along;
  const Tensor first = times(q, dividedByAdjoint(along + symmetric(inner), r1));
  const Tensor parts[] = {first, grad_r2.defined() ? times(q, grad_r2) : boxcar::zeros_like(r2)};
  return boxcar::cat(parts, -1);
}

Tensor lu_a(const Tensor& grad_l, const Tensor& grad_u, const Tensor& p, const Tensor& l, const Tensor& u) {
  if (!grad_l.defined() && !grad_u.defined()) return {};
  const int64_t m = l.size(-2);
  const int64_t n = u.size(-1);
  const int64_t k = std::min(m, n);
  // The square parts, and the rest of L or U, which is a solution with the other factor.
  const Tensor l1h = boxcar::adjoint(firstRows(l, k));
  const Tensor u1h = boxcar::adjoint(firstColumns(u, k));
  Tensor of_l = times(l1h, firstRows(grad_l, k));
  Tensor of_u = times(firstColumns(grad_u, k), u1h);
  if (m > k && grad_l.defined()) of_u = of_u - adjointTimes(rowsFrom(l, k), rowsFrom(grad_l, k));
  if (n > k && grad_u.defined()) of_l = of_l - timesAdjoint(columnsFrom(grad_u, k), columnsFrom(u, k));
  Tensor inner = of_l.defined() ? boxcar::tril(of_l, -1) : Tensor();
  if (of_u.defined()) inner = inner + boxcar::triu(of_u);
  const auto dividedByL = [&](const Tensor& x) {
    return boxcar::linalg_solve_triangular(l1h, x, /*upper=*/true, /*left=*/true, /*unitriangular=*/true);
  };
  const auto dividedByU = [&](const Tensor& x) {
    return boxcar::linalg_solve_triangular(u1h, x, /*upper=*/false, /*left=*/false);
  };
  Tensor result = dividedByL(dividedByU(inner));
  if (m > k) {
    const Tensor rest = grad_l.defined() ? dividedByU(rowsFrom(grad_l, k)) : boxcar::zeros_like(rowsFrom(l, k));
    const Tensor parts[] = {result, rest};
    result = boxcar::cat(parts, -2);
  } else if (n > k) {
    const Tensor rest = grad_u.defined() ? dividedByL(columnsFrom(grad_u, k)) : boxcar::zeros_like(columnsFrom(u, k));
    const Tensor parts[] = {result, rest};
    result = boxcar::cat(parts, -1);
  }
  return times(p, result);
}

Tensor lu_factor_a(const Tensor& grad, const Tensor& lu, const Tensor& pivots) {
  const auto [p, l, u] = boxcar::lu_unpack(lu, pivots);
  const int64_t k = std::min(lu.size(-2), lu.size(-1));
  return lu_a(firstColumns(grad, k), firstRows(grad, k), p, l, u);
}

Tensor lu_unpack_data(const Tensor& grad_l, const Tensor& grad_u, std::span<const int64_t> sizes) {
  if (!grad_l.defined() && !grad_u.defined()) return {};
  const auto last = sizes.last(2);
  const Tensor of_l = grad_l.defined() ? padded(boxcar::tril(grad_l, -1), -1, last[1]) : Tensor();
  const Tensor of_u = grad_u.defined() ? padded(boxcar::triu(grad_u), -2, last[0]) : Tensor();
  return of_l + of_u;
}

Tensor polar_a(const Tensor& grad_u, const Tensor& grad_h, const Tensor& u, const Tensor& h) {
  if (!grad_u.defined() && !grad_h.defined()) return {};
  const auto [values, vectors] = boxcar::linalg_eigh(h);
  // U^H dU is the skew-Hermitian X with H X + X H = skew(U^H dA), and dH = U^H dA - X H.
  const Tensor along = adjointTimes(u, grad_u) - times(grad_h, h);
  const Tensor inner = grad_h + sylvester(vectors, values, skew(along));
  Tensor result = times(u, inner);
  if (u.size(-2) > u.size(-1) && grad_u.defined()) {
    // What is orthogonal to the columns of u, times H^-1.
    const Tensor rest = grad_u - times(u, adjointTimes(u, grad_u));
    result = result + timesAdjoint(times(rest, vectors) / boxcar::unsqueeze(values, -2), vectors);
  }
  return result;
}

Tensor matrix_sqrth_self(const Tensor& grad, const Tensor& self) {
  const auto [values, vectors] = boxcar::linalg_eigh(self);
  const Tensor roots = boxcar::sqrt(boxcar::clamp(values, 0));
  return sylvester(vectors, roots, 0.5 * (grad + boxcar::adjoint(grad)));
}

Pair householder_both(const Tensor& grad, const Tensor& input, const Tensor& tau) {
  return reflectionGradients(grad, input, tau);
}

std::tuple<Tensor, Tensor, Tensor> ormqr_all(const Tensor& grad, const Tensor& self, const Tensor& tau,
                                             const Tensor& other, bool left, bool transposed,
                                             std::span<const bool> needed) {
  std::tuple<Tensor, Tensor, Tensor> result;
  if (needed[2]) std::get<2>(result) = boxcar::ormqr(self, tau, grad, left, !transposed);
  if (!needed[0] && !needed[1]) return result;
  // The result is op(Q) C or C op(Q), and Q is square.
  const Tensor& first = transposed == left ? other : grad;
  const Tensor& second = transposed == left ? grad : other;
  const Tensor grad_q = left ? timesAdjoint(first, second) : adjointTimes(first, second);
  std::tie(std::get<0>(result), std::get<1>(result)) = reflectionGradients(grad_q, self, tau);
  return result;
}

}  // namespace boxcar::autograd
