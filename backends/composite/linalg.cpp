#include <boxcar/backends/composite/has_derivative.h>
#include <boxcar/backends/composite/write_out.h>
#include <boxcar/backends/meta/dims.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ops.h>

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

// Linear algebra built from the operators of a backend: inverses and solutions with error checks, decompositions under
// their older names, and the out= variants of all.

namespace boxcar::composite {
namespace {

using Driver = std::optional<std::string_view>;
using Pair = std::tuple<Tensor, Tensor>;
using PairOut = std::tuple<Tensor&, Tensor&>;
using Triple = std::tuple<Tensor, Tensor, Tensor>;

// Inverses and solutions.

Tensor inv(const Tensor& a) { return std::get<0>(boxcar::linalg_inv_ex(a, /*check_errors=*/true)); }
Tensor& invOut(const Tensor& a, Tensor& out) { return writeSameType(out, inv(a)); }
PairOut invExOut(const Tensor& a, bool check_errors, Tensor& inverse, Tensor& info) {
  return writeSameTypes(boxcar::linalg_inv_ex(a, check_errors), inverse, info);
}

Pair solveEx(const Tensor& a, const Tensor& b, bool left, bool check_errors) {
  auto [result, lu, pivots, info] = boxcar::_linalg_solve_ex(a, b, left, check_errors);
  return {std::move(result), std::move(info)};
}
PairOut solveExOut(const Tensor& a, const Tensor& b, bool left, bool check_errors, Tensor& result, Tensor& info) {
  return writeSameTypes(solveEx(a, b, left, check_errors), result, info);
}
Tensor solve(const Tensor& a, const Tensor& b, bool left) {
  return std::get<0>(solveEx(a, b, left, /*check_errors=*/true));
}
Tensor& solveOut(const Tensor& a, const Tensor& b, bool left, Tensor& out) {
  return writeSameType(out, solve(a, b, left));
}
Tensor& solveTriangularOut(const Tensor& self, const Tensor& b, bool upper, bool left, bool unitriangular,
                           Tensor& out) {
  return writeSameType(out, boxcar::linalg_solve_triangular(self, b, upper, left, unitriangular));
}

// Cholesky factors.

Tensor cholesky(const Tensor& self, bool upper) {
  return std::get<0>(boxcar::linalg_cholesky_ex(self, upper, /*check_errors=*/true));
}
Tensor& choleskyOut(const Tensor& self, bool upper, Tensor& out) {
  return writeSameType(out, boxcar::linalg_cholesky(self, upper));
}
PairOut choleskyExOut(const Tensor& self, bool upper, bool check_errors, Tensor& factor, Tensor& info) {
  return writeSameTypes(boxcar::linalg_cholesky_ex(self, upper, check_errors), factor, info);
}
Tensor& oldCholeskyOut(const Tensor& self, bool upper, Tensor& out) {
  return writeResult(out, boxcar::cholesky(self, upper));
}
Tensor& choleskySolveOut(const Tensor& self, const Tensor& input2, bool upper, Tensor& out) {
  return writeResult(out, boxcar::cholesky_solve(self, input2, upper));
}

// Determinants.

Tensor det(const Tensor& a) { return std::get<0>(boxcar::_linalg_det(a)); }
Tensor& detOut(const Tensor& a, Tensor& out) { return writeSameType(out, boxcar::linalg_det(a)); }

Pair signAndLogarithm(const Tensor& a) {
  auto [sign, logarithm, lu, pivots] = boxcar::_linalg_slogdet(a);
  return {std::move(sign), std::move(logarithm)};
}
PairOut slogdetOut(const Tensor& a, Tensor& sign, Tensor& logarithm) {
  return writeSameTypes(signAndLogarithm(a), sign, logarithm);
}

Tensor logdet(const Tensor& self) {
  const auto [sign, logarithm] = signAndLogarithm(self);
  if (self.is_complex()) return boxcar::add(boxcar::log(sign), logarithm);
  return boxcar::where(boxcar::eq(sign, -1), std::numeric_limits<double>::quiet_NaN(), logarithm);
}

// Decompositions.

PairOut qrOut(const Tensor& a, std::string_view mode, Tensor& q, Tensor& r) {
  return writeSameTypes(boxcar::linalg_qr(a, mode), q, r);
}
Pair qr(const Tensor& self, bool some) { return boxcar::linalg_qr(self, some ? "reduced" : "complete"); }

Triple svd(const Tensor& a, bool full_matrices, Driver driver) {
  return boxcar::_linalg_svd(a, full_matrices, /*compute_uv=*/true, driver);
}
std::tuple<Tensor&, Tensor&, Tensor&> svdOut(const Tensor& a, bool full_matrices, Driver driver, Tensor& u, Tensor& s,
                                             Tensor& vh) {
  return writeSameTypes(svd(a, full_matrices, driver), u, s, vh);
}
// The derivatives of singular values and eigenvalues are made of the vectors.
Tensor svdvals(const Tensor& a, Driver driver) {
  return std::get<1>(boxcar::_linalg_svd(a, /*full_matrices=*/false, /*compute_uv=*/hasDerivative(a), driver));
}
Tensor& svdvalsOut(const Tensor& a, Driver driver, Tensor& out) { return writeSameType(out, svdvals(a, driver)); }

Tensor conjugateTransposed(const Tensor& matrices) {
  const Tensor transposed = boxcar::transpose(matrices, -2, -1);
  return matrices.is_complex() ? boxcar::conj_physical(transposed) : transposed;
}

// Without vectors, U and V are filled with zeros.
Triple oldSvd(const Tensor& self, bool some, bool compute_uv) {
  if (compute_uv) {
    auto [u, s, vh] = svd(self, !some, std::nullopt);
    return {std::move(u), std::move(s), conjugateTransposed(vh)};
  }
  Tensor s = svdvals(self, std::nullopt);
  DimVector sizes = toDimVector(self.sizes());
  const auto squareZeros = [&](int64_t size) {
    sizes[sizes.size() - 1] = sizes[sizes.size() - 2] = size;
    return boxcar::new_zeros(self, sizes);
  };
  Tensor u = squareZeros(self.sizes().end()[-2]);
  return {std::move(u), std::move(s), boxcar::transpose(squareZeros(self.sizes().back()), -2, -1)};
}

std::tuple<Tensor&, Tensor&, Tensor&> oldSvdOut(const Tensor& self, bool some, bool compute_uv, Tensor& u, Tensor& s,
                                                Tensor& v) {
  return writeSameTypes(oldSvd(self, some, compute_uv), u, s, v);
}

Pair eigh(const Tensor& self, std::string_view uplo) { return boxcar::_linalg_eigh(self, uplo, /*compute_v=*/true); }
PairOut eighOut(const Tensor& self, std::string_view uplo, Tensor& values, Tensor& vectors) {
  return writeSameTypes(eigh(self, uplo), values, vectors);
}
Tensor eigvalsh(const Tensor& self, std::string_view uplo) {
  return std::get<0>(boxcar::_linalg_eigh(self, uplo, /*compute_v=*/hasDerivative(self)));
}
Tensor& eigvalshOut(const Tensor& self, std::string_view uplo, Tensor& out) {
  return writeSameType(out, eigvalsh(self, uplo));
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) {
  m.impl("linalg_inv", BOXCAR_FN(inv));
  m.impl("linalg_inv.out", BOXCAR_FN(invOut));
  m.impl("inverse", BOXCAR_FN(inv));
  m.impl("inverse.out", BOXCAR_FN(invOut));
  m.impl("linalg_solve_ex", BOXCAR_FN(solveEx));
  m.impl("linalg_solve_ex.out", BOXCAR_FN(solveExOut));
  m.impl("linalg_solve", BOXCAR_FN(solve));
  m.impl("linalg_solve.out", BOXCAR_FN(solveOut));
  m.impl("linalg_cholesky", BOXCAR_FN(cholesky));
  m.impl("linalg_cholesky.out", BOXCAR_FN(choleskyOut));
  m.impl("linalg_det", BOXCAR_FN(det));
  m.impl("linalg_det.out", BOXCAR_FN(detOut));
  m.impl("det", BOXCAR_FN(det));
  for (const std::string name : {"linalg_slogdet", "slogdet"}) {
    m.impl(name, BOXCAR_FN(signAndLogarithm));
    m.impl(name + ".out", BOXCAR_FN(slogdetOut));
  }
  m.impl("logdet", BOXCAR_FN(logdet));
  m.impl("qr", BOXCAR_FN(qr));
  m.impl("linalg_svd", BOXCAR_FN(svd));
  m.impl("linalg_svd.U", BOXCAR_FN(svdOut));
  m.impl("linalg_svdvals", BOXCAR_FN(svdvals));
  m.impl("linalg_svdvals.out", BOXCAR_FN(svdvalsOut));
  m.impl("svd", BOXCAR_FN(oldSvd));
  m.impl("svd.U", BOXCAR_FN(oldSvdOut));
  m.impl("linalg_eigh", BOXCAR_FN(eigh));
  m.impl("linalg_eigh.eigvals", BOXCAR_FN(eighOut));
  m.impl("linalg_eigvalsh", BOXCAR_FN(eigvalsh));
  m.impl("linalg_eigvalsh.out", BOXCAR_FN(eigvalshOut));
}

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("linalg_inv_ex.inverse", BOXCAR_FN(invExOut));
  m.impl("linalg_solve_triangular.out", BOXCAR_FN(solveTriangularOut));
  m.impl("linalg_cholesky_ex.L", BOXCAR_FN(choleskyExOut));
  m.impl("cholesky.out", BOXCAR_FN(oldCholeskyOut));
  m.impl("cholesky_solve.out", BOXCAR_FN(choleskySolveOut));
  m.impl("linalg_qr.out", BOXCAR_FN(qrOut));
}

}  // namespace boxcar::composite
