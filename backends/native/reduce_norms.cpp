#include <boxcar/backends/functors/reduce_norms.h>
#include <boxcar/backends/meta/reduction.h>
#include <boxcar/backends/meta/views.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/memory_checks.h>
#include <boxcar/backends/native/reduction.h>
#include <boxcar/backends/native/registration.h>
#include <boxcar/backends/native/write_out.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

// Norms of vectors.

namespace boxcar::native {
namespace {

constexpr std::string_view kName = "linalg.vector_norm";
constexpr auto kTypes = kFloatingTypes + kComplexTypes;
constexpr Reduction kL2Norm = makeReduction<L2Norm>(kName, kTypes);
constexpr Reduction kL1Norm = makeReduction<L1Norm>(kName, kTypes);
constexpr Reduction kL0Norm = makeReduction<L0Norm>(kName, kTypes);
constexpr Reduction kLpNorm = makeReduction<LpNorm>(kName, kTypes);
constexpr Reduction kInfNorm = makeReduction<InfNorm>(kName, kTypes);
constexpr Reduction kNegInfNorm = makeReduction<NegInfNorm>(kName, kTypes);

const Reduction& normOf(double order) {
  if (order == 2) return kL2Norm;
  if (order == 1) return kL1Norm;
  if (order == 0) return kL0Norm;
  if (std::isinf(order)) return order > 0 ? kInfNorm : kNegInfNorm;
  return kLpNorm;
}

using OptionalDims = std::optional<std::span<const int64_t>>;

// Throws Error if an empty dimension is reduced with an infinite or negative order, which has no identity.
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
  checkDense(self);
  const ScalarType type = meta::floatingReductionType(kName, self, dtype);
  BOXCAR_CHECK(!order.isComplex(), "linalg.vector_norm: Expected a non-complex scalar as the order of norm, not {}",
               toString(order));
  const double p = order.toDouble();
  const uint64_t mask = meta::dimensionMask(dim.value_or(std::span<const int64_t>()), self.dim());
  checkHasIdentity(p, self, mask);
  return reduce(normOf(p), type == self.scalar_type() ? self : convertTo(self, type), mask, keepdim, p);
}

Tensor& vectorNormOut(const Tensor& self, const Scalar& order, OptionalDims dim, bool keepdim,
                      std::optional<ScalarType> dtype, Tensor& out) {
  meta::checkOutType(kName, out, toRealValueType(dtype.value_or(self.scalar_type())));
  return writeResult(out, vectorNorm(self, order, dim, keepdim, dtype));
}

}  // namespace

BOXCAR_NATIVE_KERNELS(aten, m, runReduction) {
  m.impl("linalg_vector_norm", BOXCAR_FN(vectorNorm));
  m.impl("linalg_vector_norm.out", BOXCAR_FN(vectorNormOut));
}

}  // namespace boxcar::native
