#include <boxcar/backends/functors/reduce_sums.h>
#include <boxcar/backends/meta/reduction.h>
#include <boxcar/backends/meta/views.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/memory_checks.h>
#include <boxcar/backends/native/reduction.h>
#include <boxcar/backends/native/registration.h>
#include <boxcar/backends/native/write_out.h>
#include <boxcar/ivalue/error.h>

#include <optional>
#include <span>

namespace boxcar::native {
namespace {

constexpr Reduction kSum = makeReduction<Sum>("sum", kAllTypes);
constexpr Reduction kNansum = makeReduction<Nansum>("nansum", kFloatingTypes);
constexpr Reduction kProd = makeReduction<Prod>("prod", kAllTypes);
constexpr Reduction kMean = makeReduction<Mean>("mean", kFloatingTypes + kComplexTypes);
constexpr Reduction kCountNonzero = makeReduction<CountNonzero>("count_nonzero", kAllTypes);

using IntSpan = std::span<const int64_t>;
using OptionalDims = std::optional<IntSpan>;
using OptionalType = std::optional<ScalarType>;

constexpr uint64_t kEveryDimension = ~uint64_t{0};

uint64_t maskOf(OptionalDims dims, const Tensor& self) {
  return meta::dimensionMask(dims.value_or(IntSpan()), self.dim());
}
uint64_t maskOf(int64_t dim, const Tensor& self) { return meta::dimensionBit(dim, self.dim()); }

// If [dtype] is given, reduces [self] converted to it, and returns a result of [dtype].
Tensor reduceAs(const Reduction& op, const Tensor& self, uint64_t mask, bool keepdim, OptionalType dtype) {
  checkDense(self);
  if (!dtype.has_value() || *dtype == self.scalar_type()) {
    Tensor result = reduce(op, self, mask, keepdim);
    return dtype.has_value() && *dtype != result.scalar_type() ? convertTo(result, *dtype) : result;
  }
  return reduceAs(op, convertTo(self, *dtype), mask, keepdim, dtype);
}

Tensor sum(const Tensor& self, OptionalType dtype) { return reduceAs(kSum, self, kEveryDimension, false, dtype); }
Tensor sumDims(const Tensor& self, OptionalDims dim, bool keepdim, OptionalType dtype) {
  return reduceAs(kSum, self, maskOf(dim, self), keepdim, dtype);
}
Tensor& sumOut(const Tensor& self, OptionalDims dim, bool keepdim, OptionalType dtype, Tensor& out) {
  return writeResult(out, sumDims(self, dim, keepdim, meta::reducedTypeInto("sum", out, dtype)));
}

Tensor nansum(const Tensor& self, OptionalDims dim, bool keepdim, OptionalType dtype) {
  BOXCAR_CHECK(!self.is_complex(), "nansum does not support complex inputs, not {}", dtypeName(self.scalar_type()));
  const ScalarType type = dtype.value_or(self.scalar_type());
  // Integers have no NaN. Floats that are summed as integers are converted first.
  const bool has_nan = isFloatingType(self.scalar_type());
  if (!has_nan || isIntegralType(type, /*includeBool=*/true)) return sumDims(self, dim, keepdim, dtype);
  if (isFloatingType(type)) return reduceAs(kNansum, self, maskOf(dim, self), keepdim, dtype);
  return convertTo(reduceAs(kNansum, self, maskOf(dim, self), keepdim, std::nullopt), type);
}
Tensor& nansumOut(const Tensor& self, OptionalDims dim, bool keepdim, OptionalType dtype, Tensor& out) {
  return writeResult(out, nansum(self, dim, keepdim, meta::reducedTypeInto("nansum", out, dtype)));
}

Tensor prod(const Tensor& self, OptionalType dtype) { return reduceAs(kProd, self, kEveryDimension, false, dtype); }
Tensor prodDim(const Tensor& self, int64_t dim, bool keepdim, OptionalType dtype) {
  return reduceAs(kProd, self, maskOf(dim, self), keepdim, dtype);
}
Tensor& prodOut(const Tensor& self, int64_t dim, bool keepdim, OptionalType dtype, Tensor& out) {
  return writeResult(out, prodDim(self, dim, keepdim, meta::reducedTypeInto("prod", out, dtype)));
}

void checkMeanType(const Tensor& self, OptionalType dtype) {
  const ScalarType type = dtype.value_or(self.scalar_type());
  BOXCAR_CHECK(isFloatingType(type) || isComplexType(type),
               "mean(): could not infer output dtype. {} dtype must be either a floating point or complex dtype. Got: "
               "{}",
               dtype.has_value() ? "Optional" : "Input", type);
}

Tensor meanDims(const Tensor& self, OptionalDims dim, bool keepdim, OptionalType dtype) {
  checkMeanType(self, dtype);
  return reduceAs(kMean, self, maskOf(dim, self), keepdim, dtype);
}
Tensor meanAll(const Tensor& self, OptionalType dtype) { return meanDims(self, std::nullopt, false, dtype); }
Tensor& meanOut(const Tensor& self, OptionalDims dim, bool keepdim, OptionalType dtype, Tensor& out) {
  checkMeanType(self, dtype);
  return writeResult(out, meanDims(self, dim, keepdim, meta::reducedTypeInto("mean", out, dtype)));
}
Tensor& meanAllOut(const Tensor& self, OptionalType dtype, Tensor& out) {
  return writeResult(out, meanAll(self, dtype));
}

Tensor countNonzero(const Tensor& self, IntSpan dim) {
  checkDense(self);
  return reduce(kCountNonzero, self, meta::dimensionMask(dim, self.dim()), false);
}

}  // namespace

BOXCAR_NATIVE_KERNELS(aten, m, runReduction) {
  m.impl("sum", BOXCAR_FN(sum));
  m.impl("sum.dim_IntList", BOXCAR_FN(sumDims));
  m.impl("sum.IntList_out", BOXCAR_FN(sumOut));
  m.impl("nansum", BOXCAR_FN(nansum));
  m.impl("nansum.out", BOXCAR_FN(nansumOut));
  m.impl("prod", BOXCAR_FN(prod));
  m.impl("prod.dim_int", BOXCAR_FN(prodDim));
  m.impl("prod.int_out", BOXCAR_FN(prodOut));
  m.impl("mean", BOXCAR_FN(meanAll));
  m.impl("mean.dim", BOXCAR_FN(meanDims));
  m.impl("mean.out", BOXCAR_FN(meanOut));
  m.impl("mean.dtype_out", BOXCAR_FN(meanAllOut));
  m.impl("count_nonzero.dim_IntList", BOXCAR_FN(countNonzero));
}

}  // namespace boxcar::native
