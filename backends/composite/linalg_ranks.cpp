#include <boxcar/backends/composite/write_out.h>
#include <boxcar/backends/meta/linalg.h>
#include <boxcar/dispatcher/call/grad_mode.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

// What singular values tell: pseudoinverses, ranks, condition numbers, polar decompositions and square roots.

namespace boxcar::composite {
namespace {

using OptionalTolerance = const std::optional<Tensor>&;
using OptionalDouble = std::optional<double>;

// How small singular values are to count as zero: up to the absolute tolerance, or up to the relative one times the
// greatest. Both are tensors whose sizes are broadcast with the batch.
struct Tolerances {
  Tensor absolute;
  Tensor relative;
};

Tensor toleranceOf(const Tensor& like, double value) {
  return boxcar::full({}, value, ScalarType::Double, std::nullopt, like.device());
}

double defaultRelative(const Tensor& matrices) {
  const bool single = meta::realType(matrices.scalar_type()) == ScalarType::Float;
  const double epsilon = single ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon();
  return epsilon * static_cast<double>(std::max(matrices.size(-1), matrices.size(-2)));
}

Tolerances tolerancesOf(const Tensor& matrices, OptionalDouble absolute, OptionalDouble relative) {
  const double other = absolute.value_or(0) > 0 ? 0 : defaultRelative(matrices);
  return {toleranceOf(matrices, absolute.value_or(0)), toleranceOf(matrices, relative.value_or(other))};
}

Tensor checkedTolerance(std::string_view op, std::string_view name, const Tensor& tolerance) {
  BOXCAR_CHECK(!tolerance.is_complex(), "{}: {} tensor of complex type is not supported. Got {}", op, name,
               tolerance.scalar_type());
  return tolerance;
}

Tolerances tolerancesOf(std::string_view op, const Tensor& matrices, OptionalTolerance absolute,
                        OptionalTolerance relative) {
  Tolerances result = tolerancesOf(matrices, std::nullopt, std::nullopt);
  if (absolute.has_value()) {
    result.absolute = checkedTolerance(op, "atol", *absolute);
    result.relative = boxcar::where(boxcar::gt(*absolute, 0), 0., result.relative);
  }
  if (relative.has_value()) result.relative = checkedTolerance(op, "rtol", *relative);
  return result;
}

// Returns which of [values], one or more for each matrix, do not count as zero; [greatest] are the greatest ones.
Tensor countedValues(const Tensor& values, const Tensor& greatest, const Tolerances& tolerances) {
  const Tensor relative = boxcar::mul(boxcar::unsqueeze(tolerances.relative, -1), greatest);
  return boxcar::gt(values, boxcar::maximum(boxcar::unsqueeze(tolerances.absolute, -1), relative));
}

Tensor greatestOf(const Tensor& values) {
  const int64_t last = -1;
  return boxcar::amax(values, std::span(&last, 1), /*keepdim=*/true);
}

Tensor adjointOf(const Tensor& matrices) {
  const Tensor transposed = boxcar::transpose(matrices, -2, -1);
  return matrices.is_complex() ? boxcar::conj_physical(transposed) : transposed;
}

// Pseudoinverses.

void checkPinv(const Tensor& self) { meta::checkMatrices("linalg.pinv", self, "input"); }

Tensor pinvOf(const Tensor& self, const Tolerances& tolerances, bool hermitian) {
  if (self.numel() == 0) {
    DimVector sizes = toDimVector(self.sizes());
    std::swap(sizes[sizes.size() - 1], sizes[sizes.size() - 2]);
    return boxcar::new_empty(self, sizes);
  }
  // self = left diag(values) right^H
  Tensor left, values, right;
  Tensor sizes_of_values;
  if (hermitian) {
    std::tie(values, left) = boxcar::linalg_eigh(self);
    right = left;
    sizes_of_values = boxcar::abs(values);
  } else {
    Tensor adjoint;
    std::tie(left, values, adjoint) = boxcar::linalg_svd(self, /*full_matrices=*/false);
    right = adjointOf(adjoint);
    sizes_of_values = values;
  }
  const Tensor counted = countedValues(sizes_of_values, greatestOf(sizes_of_values), tolerances);
  const Tensor inverses = boxcar::where(counted, boxcar::reciprocal(values), 0.);
  return boxcar::matmul(boxcar::mul(right, boxcar::unsqueeze(inverses, -2)), adjointOf(left));
}

Tensor pinvTolerances(const Tensor& self, OptionalTolerance atol, OptionalTolerance rtol, bool hermitian) {
  checkPinv(self);
  return pinvOf(self, tolerancesOf("linalg.pinv", self, atol, rtol), hermitian);
}
// Calls the operator that has the derivative.
Tensor pinvWithin(const Tensor& self, Tolerances tolerances, bool hermitian) {
  return boxcar::linalg_pinv(self, std::optional(std::move(tolerances.absolute)),
                             std::optional(std::move(tolerances.relative)), hermitian);
}
Tensor pinvNumbers(const Tensor& self, OptionalDouble atol, OptionalDouble rtol, bool hermitian) {
  checkPinv(self);
  return pinvWithin(self, tolerancesOf(self, atol, rtol), hermitian);
}
Tensor pinvRelative(const Tensor& self, const Tensor& rcond, bool hermitian) {
  checkPinv(self);
  return pinvWithin(self, {toleranceOf(self, 0), checkedTolerance("linalg.pinv", "rcond", rcond)}, hermitian);
}
Tensor pinv(const Tensor& self, double rcond, bool hermitian) { return pinvNumbers(self, 0., rcond, hermitian); }
Tensor pinverse(const Tensor& self, double rcond) { return pinv(self, rcond, /*hermitian=*/false); }

Tensor& pinvTolerancesOut(const Tensor& self, OptionalTolerance atol, OptionalTolerance rtol, bool hermitian,
                          Tensor& out) {
  return writeResult(out, pinvTolerances(self, atol, rtol, hermitian));
}
Tensor& pinvNumbersOut(const Tensor& self, OptionalDouble atol, OptionalDouble rtol, bool hermitian, Tensor& out) {
  return writeResult(out, pinvNumbers(self, atol, rtol, hermitian));
}
Tensor& pinvRelativeOut(const Tensor& self, const Tensor& rcond, bool hermitian, Tensor& out) {
  return writeResult(out, pinvRelative(self, rcond, hermitian));
}
Tensor& pinvOut(const Tensor& self, double rcond, bool hermitian, Tensor& out) {
  return writeResult(out, pinv(self, rcond, hermitian));
}

// Ranks.

void checkRank(const Tensor& self) {
  BOXCAR_CHECK(self.dim() >= 2,
               "linalg.matrix_rank: The input tensor input must have at least 2 dimensions, but it has {}.",
               self.dim());
}

Tensor rankOf(const Tensor& self, const Tolerances& tolerances, bool hermitian) {
  if (self.numel() == 0) {
    return boxcar::new_zeros(self, self.sizes().first(self.sizes().size() - 2), ScalarType::Long);
  }
  const NoGradGuard no_grad;  // a count has no derivative, and the values need no vectors
  const Tensor values = hermitian ? boxcar::abs(boxcar::linalg_eigvalsh(self)) : boxcar::linalg_svdvals(self);
  const int64_t last = -1;
  return boxcar::sum(countedValues(values, greatestOf(values), tolerances), std::span(&last, 1));
}

Tensor rankTolerances(const Tensor& self, OptionalTolerance atol, OptionalTolerance rtol, bool hermitian) {
  checkRank(self);
  return rankOf(self, tolerancesOf("linalg.matrix_rank", self, atol, rtol), hermitian);
}
Tensor rankNumbers(const Tensor& self, OptionalDouble atol, OptionalDouble rtol, bool hermitian) {
  checkRank(self);
  return rankOf(self, tolerancesOf(self, atol, rtol), hermitian);
}
Tensor rankAbsolute(const Tensor& self, const Tensor& tol, bool hermitian) {
  checkRank(self);
  return rankOf(self, {checkedTolerance("linalg.matrix_rank", "tol", tol), toleranceOf(self, 0)}, hermitian);
}
Tensor rank(const Tensor& self, double tol, bool hermitian) { return rankNumbers(self, tol, 0., hermitian); }

Tensor& rankTolerancesOut(const Tensor& self, OptionalTolerance atol, OptionalTolerance rtol, bool hermitian,
                          Tensor& out) {
  return writeResult(out, rankTolerances(self, atol, rtol, hermitian));
}
Tensor& rankNumbersOut(const Tensor& self, OptionalDouble atol, OptionalDouble rtol, bool hermitian, Tensor& out) {
  return writeResult(out, rankNumbers(self, atol, rtol, hermitian));
}
Tensor& rankAbsoluteOut(const Tensor& self, const Tensor& tol, bool hermitian, Tensor& out) {
  return writeResult(out, rankAbsolute(self, tol, hermitian));
}
Tensor& rankOut(const Tensor& self, double tol, bool hermitian, Tensor& out) {
  return writeResult(out, rank(self, tol, hermitian));
}

// Condition numbers.

Tensor emptyCond(const Tensor& self) {
  return boxcar::new_zeros(self, self.sizes().first(self.sizes().size() - 2), meta::realType(self.scalar_type()));
}

// Returns the product of the norms of the matrices and of their inverses; infinity where there is no inverse.
template <class Order>
Tensor condByNorms(const Tensor& self, const Order& order) {
  const auto [inverse, info] = boxcar::linalg_inv_ex(self);
  const int64_t dims[] = {-2, -1};
  const Tensor product = boxcar::mul(boxcar::linalg_norm(self, order, dims), boxcar::linalg_norm(inverse, order, dims));
  const Tensor lost = boxcar::logical_or(boxcar::ne(info, 0), boxcar::isnan(product));
  return boxcar::where(lost, std::numeric_limits<double>::infinity(), product);
}

Tensor cond(const Tensor& self, const std::optional<Scalar>& p) {
  BOXCAR_CHECK(self.dim() >= 2, "linalg.cond: The input tensor must have at least 2 dimensions, but it has {}.",
               self.dim());
  const double order = p.has_value() ? p->toDouble() : 2;
  const double size = std::abs(order);
  BOXCAR_CHECK(size == 1 || size == 2 || std::isinf(order),
               "linalg.cond got an invalid norm type: {}; there are 1, -1, 2, -2, inf, -inf, 'fro' and 'nuc'", order);
  if (self.numel() == 0) return emptyCond(self);
  if (size != 2) {
    meta::checkSquareMatrices("linalg.cond", self);
    return condByNorms(self, *p);
  }
  const Tensor values = boxcar::linalg_svdvals(self);
  const Tensor greatest = boxcar::select(values, -1, 0);
  const Tensor least = boxcar::select(values, -1, values.size(-1) - 1);
  return order > 0 ? boxcar::div(greatest, least) : boxcar::div(least, greatest);
}

Tensor condNamed(const Tensor& self, std::string_view p) {
  BOXCAR_CHECK(p == "fro" || p == "nuc",
               "linalg.cond got an invalid norm type: {}; there are 1, -1, 2, -2, inf, -inf, 'fro' and 'nuc'", p);
  BOXCAR_CHECK(self.dim() >= 2, "linalg.cond: The input tensor must have at least 2 dimensions, but it has {}.",
               self.dim());
  BOXCAR_CHECK(self.size(-1) == self.size(-2),
               "linalg.cond: A must be batches of square matrices, but they are {} by {} matrices", self.size(-2),
               self.size(-1));
  if (self.numel() == 0) return emptyCond(self);
  if (p == "fro") return condByNorms(self, p);
  const Tensor values = boxcar::linalg_svdvals(self);
  const int64_t last = -1;
  const std::span over(&last, 1);
  return boxcar::mul(boxcar::sum(values, over), boxcar::sum(boxcar::reciprocal(values), over));
}

Tensor& condOut(const Tensor& self, const std::optional<Scalar>& p, Tensor& out) {
  return writeResult(out, cond(self, p));
}
Tensor& condNamedOut(const Tensor& self, std::string_view p, Tensor& out) {
  return writeResult(out, condNamed(self, p));
}

// Polar decompositions and square roots.

// Returns vectors diag(values) vectors^H.
Tensor composed(const Tensor& vectors, const Tensor& values) {
  return boxcar::matmul(boxcar::mul(vectors, boxcar::unsqueeze(values, -2)), adjointOf(vectors));
}

// a = W diag(s) V^H = (W V^H) (V diag(s) V^H)
std::tuple<Tensor, Tensor> polar(const Tensor& a) {
  meta::checkMatrices("linalg.polar", a);
  BOXCAR_CHECK(a.size(-2) >= a.size(-1),
               "linalg.polar: input must have at least as many rows as columns, but got {} by {} matrices", a.size(-2),
               a.size(-1));
  const auto [left, values, adjoint] = boxcar::linalg_svd(a, /*full_matrices=*/false);
  const Tensor h = composed(adjointOf(adjoint), values);
  return {boxcar::matmul(left, adjoint), boxcar::div(boxcar::add(h, adjointOf(h)), 2)};
}
std::tuple<Tensor&, Tensor&> polarOut(const Tensor& a, Tensor& u, Tensor& h) {
  return writeSameTypes(boxcar::linalg_polar(a), u, h);
}

Tensor matrixSqrth(const Tensor& self) {
  meta::checkSquareMatrices("linalg.matrix_sqrth", self);
  const auto [values, vectors] = boxcar::linalg_eigh(self);
  return composed(vectors, boxcar::sqrt(boxcar::clamp(values, 0)));
}
Tensor& matrixSqrthOut(const Tensor& self, Tensor& out) { return writeResult(out, boxcar::linalg_matrix_sqrth(self)); }

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("linalg_polar", BOXCAR_FN(polar));
  m.impl("linalg_polar.out", BOXCAR_FN(polarOut));
  m.impl("linalg_matrix_sqrth", BOXCAR_FN(matrixSqrth));
  m.impl("linalg_matrix_sqrth.out", BOXCAR_FN(matrixSqrthOut));
  m.impl("linalg_pinv.atol_rtol_tensor", BOXCAR_FN(pinvTolerances));
  m.impl("linalg_pinv.atol_rtol_tensor_out", BOXCAR_FN(pinvTolerancesOut));
}

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) {
  m.impl("linalg_pinv.atol_rtol_float", BOXCAR_FN(pinvNumbers));
  m.impl("linalg_pinv.atol_rtol_float_out", BOXCAR_FN(pinvNumbersOut));
  m.impl("linalg_pinv.rcond_tensor", BOXCAR_FN(pinvRelative));
  m.impl("linalg_pinv.out_rcond_tensor", BOXCAR_FN(pinvRelativeOut));
  m.impl("linalg_pinv", BOXCAR_FN(pinv));
  m.impl("linalg_pinv.out", BOXCAR_FN(pinvOut));
  m.impl("pinverse", BOXCAR_FN(pinverse));
  m.impl("linalg_matrix_rank.atol_rtol_tensor", BOXCAR_FN(rankTolerances));
  m.impl("linalg_matrix_rank.atol_rtol_tensor_out", BOXCAR_FN(rankTolerancesOut));
  m.impl("linalg_matrix_rank.atol_rtol_float", BOXCAR_FN(rankNumbers));
  m.impl("linalg_matrix_rank.atol_rtol_float_out", BOXCAR_FN(rankNumbersOut));
  m.impl("linalg_matrix_rank.tol_tensor", BOXCAR_FN(rankAbsolute));
  m.impl("linalg_matrix_rank.out_tol_tensor", BOXCAR_FN(rankAbsoluteOut));
  m.impl("linalg_matrix_rank", BOXCAR_FN(rank));
  m.impl("linalg_matrix_rank.out", BOXCAR_FN(rankOut));
  m.impl("linalg_cond", BOXCAR_FN(cond));
  m.impl("linalg_cond.out", BOXCAR_FN(condOut));
  m.impl("linalg_cond.p_str", BOXCAR_FN(condNamed));
  m.impl("linalg_cond.p_str_out", BOXCAR_FN(condNamedOut));
}

}  // namespace boxcar::composite
