#include <boxcar/backends/cpu/copy.h>
#include <boxcar/backends/cpu/functors.h>
#include <boxcar/backends/cpu/reduction.h>
#include <boxcar/backends/cpu/registration.h>
#include <boxcar/backends/shape/reduction.h>
#include <boxcar/backends/shape/views.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <optional>
#include <span>

// Norms of vectors.

namespace boxcar::cpu {
namespace {

template <class T>
using Magnitude = RealOf<Compute<T>>;

template <class T>
Magnitude<T> magnitudeOf(T x) {
  return std::abs(static_cast<Compute<T>>(x));
}

// A sum of something of each element. Complex rows are not for VectorReduction.
template <class T>
struct MagnitudeSum {
  using Acc = Magnitude<T>;
  using Out = RealOf<T>;
  static constexpr bool kUnordered = true;
  static Acc identity() { return 0; }
  static Acc merge(Acc a, Acc b) { return a + b; }
  static Acc finish(Acc acc, int64_t) { return acc; }
};

template <class T>
struct SquaredNorm : MagnitudeSum<T>, VectorReduced<Compute<T>, VectorReduction::kSumOfSquares> {
  using Acc = Magnitude<T>;
  static Acc take(Acc acc, T x, int64_t) {
    if constexpr (kIsComplex<T>)
      return acc + std::norm(x);
    else
      return acc + static_cast<Acc>(x) * static_cast<Acc>(x);
  }
  static Acc finish(Acc acc, int64_t) { return std::sqrt(acc); }
};

template <class T>
struct SumNorm : MagnitudeSum<T>, VectorReduced<Compute<T>, VectorReduction::kSumOfMagnitudes> {
  using Acc = Magnitude<T>;
  static Acc take(Acc acc, T x, int64_t) { return acc + magnitudeOf(x); }
};

template <class T>
struct NonZeroNorm : MagnitudeSum<T> {
  using Acc = Magnitude<T>;
  static Acc take(Acc acc, T x, int64_t) { return acc + (convertElement<bool>(x) ? Acc(1) : Acc(0)); }
};

template <class T>
struct PowerNorm : MagnitudeSum<T> {
  using Acc = Magnitude<T>;
  explicit PowerNorm(double order) : p(static_cast<Acc>(order)) {}
  Acc take(Acc acc, T x, int64_t) const { return acc + std::pow(magnitudeOf(x), p); }
  Acc finish(Acc acc, int64_t) const { return std::pow(acc, Acc(1) / p); }
  Acc p;
};

template <class T, bool greatest>
struct ExtremeNorm : MagnitudeSum<T> {
  using Acc = Magnitude<T>;
  static Acc identity() { return greatest ? Acc(0) : std::numeric_limits<Acc>::infinity(); }
  static Acc take(Acc acc, T x, int64_t) { return merge(acc, magnitudeOf(x)); }
  static Acc merge(Acc a, Acc b) { return (greatest ? a > b : a < b) || isNan(a) ? a : b; }
};
template <class T>
using GreatestNorm = ExtremeNorm<T, true>;
template <class T>
using LeastNorm = ExtremeNorm<T, false>;

constexpr std::string_view kName = "linalg.vector_norm";
constexpr auto kTypes = kFloatingTypes + kComplexTypes;
constexpr Reduction kSquared = makeReduction<SquaredNorm>(kName, kTypes);
constexpr Reduction kSum = makeReduction<SumNorm>(kName, kTypes);
constexpr Reduction kNonZero = makeReduction<NonZeroNorm>(kName, kTypes);
constexpr Reduction kPower = makeReduction<PowerNorm>(kName, kTypes);
constexpr Reduction kGreatest = makeReduction<GreatestNorm>(kName, kTypes);
constexpr Reduction kLeast = makeReduction<LeastNorm>(kName, kTypes);

const Reduction& normOf(double order) {
  if (order == 2) return kSquared;
  if (order == 1) return kSum;
  if (order == 0) return kNonZero;
  if (std::isinf(order)) return order > 0 ? kGreatest : kLeast;
  return kPower;
}

using OptionalDims = std::optional<std::span<const int64_t>>;

// The greatest and the least of no element, and powers below 0, do not exist.
void checkHasIdentity(double order, const Tensor& self, uint64_t mask) {
  if (order >= 0 && !std::isinf(order)) return;
  for (size_t i = 0; i < self.sizes().size(); ++i) {
    BOXCAR_CHECK(
        (mask >> i & 1) == 0 || self.sizes()[i] != 0,
        "linalg.vector_norm cannot compute the {} norm on the dimension {} because this dimension is empty and "
        "the operation does not have an identity",
        order, i);
  }
}

Tensor vectorNorm(const Tensor& self, const Scalar& order, OptionalDims dim, bool keepdim,
                  std::optional<ScalarType> dtype) {
  checkCpuOrMeta(self);
  const ScalarType type = shape::floatingReductionType(kName, self, dtype);
  BOXCAR_CHECK(!order.isComplex(), "linalg.vector_norm: Expected a non-complex scalar as the order of norm, not {}",
               toString(order));
  const double p = order.toDouble();
  const uint64_t mask = shape::dimensionMask(dim.value_or(std::span<const int64_t>()), self.dim());
  checkHasIdentity(p, self, mask);
  return reduce(normOf(p), type == self.scalar_type() ? self : convertTo(self, type), mask, keepdim, p);
}

Tensor& vectorNormOut(const Tensor& self, const Scalar& order, OptionalDims dim, bool keepdim,
                      std::optional<ScalarType> dtype, Tensor& out) {
  shape::checkOutType(kName, out, toRealValueType(dtype.value_or(self.scalar_type())));
  return writeResult(out, vectorNorm(self, order, dim, keepdim, dtype));
}

}  // namespace

BOXCAR_CPU_AND_META(aten, m) {
  m.impl("linalg_vector_norm", BOXCAR_FN(vectorNorm));
  m.impl("linalg_vector_norm.out", BOXCAR_FN(vectorNormOut));
}

}  // namespace boxcar::cpu
