#include <boxcar/backends/meta/broadcast.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/linalg.h>
#include <boxcar/backends/native/memory_checks.h>
#include <boxcar/backends/native/registration.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

// LU and LDL factors with their pivots as results, and solving with such factors, which callers may have changed.

namespace boxcar::native {
namespace {

std::tuple<Tensor, Tensor, Tensor> luFactorEx(const Tensor& a, bool pivot, bool check_errors) {
  checkDense(a);
  meta::checkMatrices("linalg.lu_factor", a);
  BOXCAR_CHECK(pivot, "linalg.lu_factor: LU without pivoting is not implemented; use pivot=True");
  const auto size = a.sizes().last(2);
  DimVector pivot_sizes = toDimVector(meta::withoutLast(a));
  pivot_sizes.back() = std::min(size[0], size[1]);
  const Tensor factors = copyMatrices(a.sizes(), a);
  const Tensor pivots = Tensor::allocate(pivot_sizes, ScalarType::Int, a.device());
  const Tensor info = Tensor::allocate(meta::batchSizes(a), ScalarType::Int, a.device());
  if (!a.is_meta()) factorLu(a.device(), "linalg.lu_factor", factors, pivots, info);
  if (check_errors) checkInfo("linalg.lu_factor", info, Failure::kZeroPivot);
  return {factors, pivots, info};
}

// Throws Error if [pivots] are not those of [factors].
void checkPivotSizes(std::string_view op, const Tensor& factors, const Tensor& pivots) {
  const bool fit = pivots.dim() > 0 && std::ranges::equal(meta::withoutLast(factors), pivots.sizes());
  BOXCAR_CHECK(fit, "{}: Expected pivots with the sizes of the factors without their last, [{}], but got [{}]", op,
               fmt::join(meta::withoutLast(factors), ", "), fmt::join(pivots.sizes(), ", "));
}

// Throws Error if a library would read or write other memory by one of [pivots], which are contiguous.
void checkPivotRange(std::string_view op, const Tensor& pivots, bool in_pairs) {
  if (pivots.is_meta() || pivots.numel() == 0) return;
  const Tensor on_host = toDevice(pivots, DeviceType::CPU);
  const int32_t* values = on_host.const_data_ptr<int32_t>();
  const int64_t n = pivots.sizes().back();
  for (int64_t i = 0; i < pivots.numel(); ++i) {
    int64_t value = values[i];
    if (in_pairs && value < 0) {
      const bool paired = i % n + 1 < n && values[i + 1] < 0;
      BOXCAR_CHECK(paired, "{}: the negative pivot {} at {} has no second one; pass the pivots of linalg.ldl_factor",
                   op, value, i % n);
      BOXCAR_CHECK(-value <= n, "{}: pivots must be from -{} to {}, but one is {}", op, n, n, value);
      value = -int64_t{values[++i]};
    }
    BOXCAR_CHECK(value >= 1 && value <= n, "{}: pivots must be from 1 to {}, the rows of the factors, but one is {}",
                 op, n, value);
  }
}

// Returns [pivots], repeated for each matrix of [sizes].
Tensor pivotsFor(const Tensor& pivots, std::span<const int64_t> sizes) {
  return toContiguous(meta::expandTo(pivots, sizes.first(sizes.size() - 1)));
}

Tensor luSolve(const Tensor& factors, const Tensor& pivots, const Tensor& b, bool left, bool adjoint) {
  constexpr std::string_view kName = "linalg.lu_solve";
  const Device device = commonDevice({&factors, &pivots, &b});
  BOXCAR_CHECK(pivots.scalar_type() == ScalarType::Int,
               "{}: pivots should be a Tensor of scalar type Int, as linalg.lu_factor returns it, but it is {}", kName,
               pivots.scalar_type());
  const meta::Equation equation = meta::checkEquation(kName, factors, b, left);
  checkPivotSizes(kName, factors, pivots);
  checkPivotRange(kName, toContiguous(pivots), /*in_pairs=*/false);

  // X A = B is A^T X^T = B^T, and a row-major X is a column-major X^T. A^H X = B is A^T conj(X) = conj(B).
  Tensor x = left ? copyMatrices(equation.b_sizes, b) : Tensor::allocate(equation.b_sizes, b.scalar_type(), device);
  if (x.is_meta() || x.numel() == 0) return x;
  if (!left) copyElements(x, meta::expandTo(b, equation.b_sizes));
  Tensor result = x;
  const bool conjugates = adjoint && x.is_complex();
  if (conjugates) boxcar::conj_physical_(result);
  solveLu(device, kName, x, copyMatrices(equation.a_sizes, factors), pivotsFor(pivots, equation.a_sizes),
          x.sizes().last(2)[left ? 1 : 0], left == adjoint);
  if (conjugates) boxcar::conj_physical_(result);
  return result;
}

std::tuple<Tensor, Tensor, Tensor> ldlFactorEx(const Tensor& self, bool hermitian, bool check_errors) {
  constexpr std::string_view kName = "linalg.ldl_factor";
  checkDense(self);
  meta::checkSquareMatrices(kName, self);
  const Tensor factors = copyMatrices(self.sizes(), self);
  const Tensor pivots = Tensor::allocate(meta::withoutLast(self), ScalarType::Int, self.device());
  const Tensor info = Tensor::allocate(meta::batchSizes(self), ScalarType::Int, self.device());
  if (!self.is_meta()) factorLdl(self.device(), kName, factors, pivots, info, hermitian);
  if (check_errors) checkInfo(kName, info, Failure::kSingularBlock);
  return {factors, pivots, info};
}

Tensor ldlSolve(const Tensor& factors, const Tensor& pivots, const Tensor& b, bool hermitian) {
  constexpr std::string_view kName = "linalg.ldl_solve";
  const Device device = commonDevice({&factors, &pivots, &b});
  BOXCAR_CHECK(isIntegralType(pivots.scalar_type(), /*includeBool=*/false),
               "{}: Expected pivots to be integers, as linalg.ldl_factor returns them, but they are {}", kName,
               pivots.scalar_type());
  const meta::Equation equation = meta::checkEquation(kName, factors, b, /*left=*/true);
  checkPivotSizes(kName, factors, pivots);
  const Tensor x = copyMatrices(equation.b_sizes, b);
  if (x.is_meta()) return x;
  const Tensor words = toContiguous(pivots, ScalarType::Int);
  checkPivotRange(kName, words, /*in_pairs=*/true);
  if (x.numel() == 0) return x;
  solveLdl(device, kName, x, copyMatrices(equation.a_sizes, factors), pivotsFor(words, equation.a_sizes), hermitian);
  return x;
}

}  // namespace

BOXCAR_NATIVE_KERNELS(aten, m, factorLu, solveLu) {
  m.impl("linalg_lu_factor_ex", BOXCAR_FN(luFactorEx));
  m.impl("linalg_lu_solve", BOXCAR_FN(luSolve));
}

BOXCAR_NATIVE_KERNELS(aten, m, factorLdl, solveLdl) {
  m.impl("linalg_ldl_factor_ex", BOXCAR_FN(ldlFactorEx));
  m.impl("linalg_ldl_solve", BOXCAR_FN(ldlSolve));
}

}  // namespace boxcar::native
