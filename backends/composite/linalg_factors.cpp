#include <boxcar/backends/composite/has_derivative.h>
#include <boxcar/backends/composite/write_out.h>
#include <boxcar/backends/meta/dims.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/linalg.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/storage_without_memory.h>
#include <boxcar/ops.h>
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

// Matrices from factors, factors with error checks, and the out= variants of all operators of factors, eigenvalues and
// least squares.

namespace boxcar::composite {
namespace {

using Two = std::tuple<Tensor, Tensor>;
using TwoOut = std::tuple<Tensor&, Tensor&>;
using Three = std::tuple<Tensor, Tensor, Tensor>;
using ThreeOut = std::tuple<Tensor&, Tensor&, Tensor&>;

// LU factors.

ThreeOut luFactorExOut(const Tensor& a, bool pivot, bool check_errors, Tensor& lu, Tensor& pivots, Tensor& info) {
  return writeSameTypes(boxcar::linalg_lu_factor_ex(a, pivot, check_errors), lu, pivots, info);
}
Two luFactor(const Tensor& a, bool pivot) {
  auto [lu, pivots, info] = boxcar::linalg_lu_factor_ex(a, pivot, /*check_errors=*/true);
  return {std::move(lu), std::move(pivots)};
}
TwoOut luFactorOut(const Tensor& a, bool pivot, Tensor& lu, Tensor& pivots) {
  return writeSameTypes(luFactor(a, pivot), lu, pivots);
}
Three luWithInfo(const Tensor& self, bool pivot, bool /*check_errors*/) {
  return boxcar::linalg_lu_factor_ex(self, pivot, /*check_errors=*/false);
}

// Returns the row of the matrix that each row of L U is, from LAPACK's pivots of [rows] rows.
Tensor permutationOf(const Tensor& pivots, int64_t rows) {
  const Tensor on_host = native::toContiguous(native::toDevice(pivots, DeviceType::CPU));
  const int64_t count = pivots.size(-1);
  DimVector sizes = toDimVector(pivots.sizes());
  sizes.back() = rows;
  const Tensor result = Tensor::allocate(sizes, ScalarType::Long, DeviceType::CPU);
  const int32_t* pivot = on_host.const_data_ptr<int32_t>();
  int64_t* row = result.data_ptr<int64_t>();
  int64_t batch = 1;
  for (const int64_t size : std::span(sizes).first(sizes.size() - 1)) batch *= size;
  for (int64_t i = 0; i < batch; ++i, row += rows, pivot += count) {
    std::iota(row, row + rows, int64_t{0});
    for (int64_t j = 0; j < count; ++j) {
      BOXCAR_CHECK(pivot[j] >= 1 && pivot[j] <= rows,
                   "lu_unpack: pivots must be from 1 to {}, the rows of LU_data, but one is {}", rows, pivot[j]);
      std::swap(row[j], row[pivot[j] - 1]);
    }
  }
  return native::toDevice(result, pivots.device());
}

// A result without elements, for what is not asked for.
Tensor nothingLike(const Tensor& tensor) {
  const int64_t size = 0;
  return boxcar::new_empty(tensor, std::span(&size, 1));
}

Three luUnpack(const Tensor& lu, const Tensor& pivots, bool unpack_data, bool unpack_pivots) {
  BOXCAR_CHECK(lu.dim() >= 2, "lu_unpack: LU_data must have at least 2 dimensions, but it has {}", lu.dim());
  const int64_t m = lu.size(-2), n = lu.size(-1), k = std::min(m, n);
  DimVector sizes = toDimVector(lu.sizes());
  if (unpack_pivots) {
    BOXCAR_CHECK(pivots.scalar_type() == ScalarType::Int,
                 "lu_unpack: LU_pivots must be int32, as linalg.lu_factor returns it, but it is {}",
                 dtypeName(pivots.scalar_type()));
    DimVector expected = sizes;
    expected.pop_back();
    expected.back() = k;
    BOXCAR_CHECK(std::ranges::equal(expected, pivots.sizes()),
                 "Expected LU_pivots to have shape [{}] but got [{}] instead.", fmt::join(expected, ", "),
                 fmt::join(pivots.sizes(), ", "));
  }
  Tensor p = nothingLike(lu), lower = nothingLike(lu), upper = nothingLike(lu);
  if (unpack_pivots) {
    sizes[sizes.size() - 1] = m;
    p = boxcar::new_zeros(lu, sizes);
    if (!lu.is_meta() && p.numel() > 0) boxcar::scatter_(p, -2, boxcar::unsqueeze(permutationOf(pivots, m), -2), 1);
  }
  if (unpack_data) {
    lower = boxcar::tril(boxcar::contiguous(boxcar::narrow(lu, -1, 0, k)), -1);
    Tensor diagonal = boxcar::diagonal(lower, 0, -2, -1);
    boxcar::fill_(diagonal, 1);
    upper = boxcar::triu(boxcar::contiguous(boxcar::narrow(lu, -2, 0, k)));
  }
  return {std::move(p), std::move(lower), std::move(upper)};
}
ThreeOut luUnpackOut(const Tensor& lu, const Tensor& pivots, bool unpack_data, bool unpack_pivots, Tensor& p, Tensor& l,
                     Tensor& u) {
  return writeSameTypes(luUnpack(lu, pivots, unpack_data, unpack_pivots), p, l, u);
}

Three lu(const Tensor& a, bool pivot) {
  const auto [factors, pivots, info] = boxcar::linalg_lu_factor_ex(a, pivot, /*check_errors=*/false);
  return luUnpack(factors, pivots, /*unpack_data=*/true, /*unpack_pivots=*/true);
}
ThreeOut luOut(const Tensor& a, bool pivot, Tensor& p, Tensor& l, Tensor& u) {
  return writeSameTypes(lu(a, pivot), p, l, u);
}

Tensor& linalgLuSolveOut(const Tensor& factors, const Tensor& pivots, const Tensor& b, bool left, bool adjoint,
                         Tensor& out) {
  return writeSameType(out, boxcar::linalg_lu_solve(factors, pivots, b, left, adjoint));
}
Tensor luSolve(const Tensor& self, const Tensor& factors, const Tensor& pivots) {
  return boxcar::linalg_lu_solve(factors, pivots, self);
}
Tensor& luSolveOut(const Tensor& self, const Tensor& factors, const Tensor& pivots, Tensor& out) {
  return writeSameType(out, luSolve(self, factors, pivots));
}

// LDL factors.

ThreeOut ldlFactorExOut(const Tensor& self, bool hermitian, bool check_errors, Tensor& factors, Tensor& pivots,
                        Tensor& info) {
  return writeSameTypes(boxcar::linalg_ldl_factor_ex(self, hermitian, check_errors), factors, pivots, info);
}
Two ldlFactor(const Tensor& self, bool hermitian) {
  auto [factors, pivots, info] = boxcar::linalg_ldl_factor_ex(self, hermitian, /*check_errors=*/true);
  return {std::move(factors), std::move(pivots)};
}
TwoOut ldlFactorOut(const Tensor& self, bool hermitian, Tensor& factors, Tensor& pivots) {
  return writeSameTypes(ldlFactor(self, hermitian), factors, pivots);
}
Tensor& ldlSolveOut(const Tensor& factors, const Tensor& pivots, const Tensor& b, bool hermitian, Tensor& out) {
  return writeSameType(out, boxcar::linalg_ldl_solve(factors, pivots, b, hermitian));
}

// Cholesky factors.

Tensor choleskyInverse(const Tensor& self, bool upper) {
  meta::checkSquareMatrices("cholesky_inverse", self);
  if (!self.is_meta() && self.numel() > 0) {
    const Tensor zeros = boxcar::eq(boxcar::diagonal(self, 0, -2, -1), 0);
    BOXCAR_CHECK(!boxcar::item(boxcar::any(zeros)).toBool(),
                 "cholesky_inverse: an element on the diagonal of self is zero, and the matrix has no inverse; see "
                 "self.diagonal(0, -2, -1)");
  }
  Tensor identity = boxcar::new_zeros(self, self.sizes().last(2));
  Tensor diagonal = boxcar::diagonal(identity);
  boxcar::fill_(diagonal, 1);
  return boxcar::cholesky_solve(identity, self, upper);
}
Tensor& choleskyInverseOut(const Tensor& self, bool upper, Tensor& out) {
  return writeResult(out, boxcar::cholesky_inverse(self, upper));
}

// QR factors as LAPACK stores them.

TwoOut geqrfOut(const Tensor& self, Tensor& a, Tensor& tau) { return writeSameTypes(boxcar::geqrf(self), a, tau); }
Tensor& householderOut(const Tensor& input, const Tensor& tau, Tensor& out) {
  return writeSameType(out, boxcar::linalg_householder_product(input, tau));
}
Tensor orgqr(const Tensor& self, const Tensor& tau) { return boxcar::linalg_householder_product(self, tau); }
Tensor& ormqrOut(const Tensor& self, const Tensor& tau, const Tensor& other, bool left, bool transpose, Tensor& out) {
  return writeSameType(out, boxcar::ormqr(self, tau, other, left, transpose));
}

// Solutions.

TwoOut oldTriangularSolveOut(const Tensor& self, const Tensor& a, bool upper, bool transpose, bool unitriangular,
                             Tensor& x, Tensor& m) {
  return writeSameTypes(boxcar::triangular_solve(self, a, upper, transpose, unitriangular), x, m);
}
std::tuple<Tensor&, Tensor&, Tensor&, Tensor&> lstsqOut(const Tensor& self, const Tensor& b,
                                                        std::optional<double> rcond,
                                                        std::optional<std::string_view> driver, Tensor& solution,
                                                        Tensor& residuals, Tensor& rank, Tensor& singular_values) {
  return writeSameTypes(boxcar::linalg_lstsq(self, b, rcond, driver), solution, residuals, rank, singular_values);
}

// Eigenvalues.

TwoOut eigOut(const Tensor& self, Tensor& values, Tensor& vectors) {
  return writeSameTypes(boxcar::linalg_eig(self), values, vectors);
}
// The derivative of eigenvalues is made of the vectors.
Tensor eigvals(const Tensor& self) {
  return hasDerivative(self) ? std::get<0>(boxcar::linalg_eig(self)) : boxcar::_linalg_eigvals(self);
}
Tensor& eigvalsOut(const Tensor& self, Tensor& out) { return writeResult(out, boxcar::_linalg_eigvals(self)); }

void checkErrors(const Tensor& info, std::string_view api_name, bool is_matrix) {
  BOXCAR_CHECK(info.scalar_type() == ScalarType::Int, "_linalg_check_errors: info must be int32, but it is {}",
               dtypeName(info.scalar_type()));
  BOXCAR_CHECK(!is_matrix || info.numel() == 1,
               "_linalg_check_errors: the info of one matrix must have one element, but it has {}", info.numel());
  if (lacksElements(info) || !boxcar::item(boxcar::any(info)).toBool()) return;
  native::checkInfo(api_name, native::toContiguous(is_matrix ? boxcar::squeeze(info) : info),
                    native::failureOf(api_name));
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) {
  m.impl("linalg_lu_factor", BOXCAR_FN(luFactor));
  m.impl("linalg_lu_factor.out", BOXCAR_FN(luFactorOut));
  m.impl("_lu_with_info", BOXCAR_FN(luWithInfo));
  m.impl("lu_solve", BOXCAR_FN(luSolve));
  m.impl("lu_solve.out", BOXCAR_FN(luSolveOut));
  m.impl("linalg_ldl_factor", BOXCAR_FN(ldlFactor));
  m.impl("linalg_ldl_factor.out", BOXCAR_FN(ldlFactorOut));
  m.impl("orgqr", BOXCAR_FN(orgqr));
  m.impl("orgqr.out", BOXCAR_FN(householderOut));
  m.impl("linalg_eigvals", BOXCAR_FN(eigvals));
  m.impl("linalg_eigvals.out", BOXCAR_FN(eigvalsOut));
}

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("linalg_lu_factor_ex.out", BOXCAR_FN(luFactorExOut));
  m.impl("linalg_lu", BOXCAR_FN(lu));
  m.impl("linalg_lu.out", BOXCAR_FN(luOut));
  m.impl("linalg_lu_solve.out", BOXCAR_FN(linalgLuSolveOut));
  m.impl("lu_unpack", BOXCAR_FN(luUnpack));
  m.impl("lu_unpack.out", BOXCAR_FN(luUnpackOut));
  m.impl("linalg_ldl_factor_ex.out", BOXCAR_FN(ldlFactorExOut));
  m.impl("linalg_ldl_solve.out", BOXCAR_FN(ldlSolveOut));
  m.impl("cholesky_inverse", BOXCAR_FN(choleskyInverse));
  m.impl("cholesky_inverse.out", BOXCAR_FN(choleskyInverseOut));
  m.impl("geqrf.a", BOXCAR_FN(geqrfOut));
  m.impl("linalg_householder_product.out", BOXCAR_FN(householderOut));
  m.impl("ormqr.out", BOXCAR_FN(ormqrOut));
  m.impl("triangular_solve.X", BOXCAR_FN(oldTriangularSolveOut));
  m.impl("linalg_lstsq.out", BOXCAR_FN(lstsqOut));
  m.impl("linalg_eig.out", BOXCAR_FN(eigOut));
  m.impl("_linalg_check_errors", BOXCAR_FN(checkErrors));
}

}  // namespace boxcar::composite
