#include <boxcar/backends/cpu/copy.h>
#include <boxcar/backends/cpu/functors.h>
#include <boxcar/backends/cpu/reduction.h>
#include <boxcar/backends/shape/views.h>
#include <boxcar/dispatcher/library.h>
#include <boxcar/ivalue/error.h>

#include <optional>
#include <span>

namespace boxcar::cpu {
namespace {

// Sums of integers and bools are int64; those of float16 and bfloat16 are accumulated in float32.
template <class T>
using SumOf = std::conditional_t<std::is_integral_v<T>, int64_t, T>;
template <class T>
using AccumulatorOf = Compute<SumOf<T>>;

template <class T>
struct Sum {
  using Acc = AccumulatorOf<T>;
  using Out = SumOf<T>;
  static constexpr bool kUnordered = true;
  static Acc identity() { return Acc(0); }
  static Acc take(Acc acc, T x, int64_t) { return addElements(acc, static_cast<Acc>(x)); }
  static Acc merge(Acc a, Acc b) { return addElements(a, b); }
  static Acc finish(Acc acc, int64_t) { return acc; }
};

template <class T>
struct Mean : Sum<T> {
  using Acc = AccumulatorOf<T>;
  static Acc finish(Acc acc, int64_t count) { return acc / static_cast<RealOf<Acc>>(count); }
};

template <class T>
struct Product {
  using Acc = AccumulatorOf<T>;
  using Out = SumOf<T>;
  static constexpr bool kUnordered = true;
  static Acc identity() { return Acc(1); }
  static Acc take(Acc acc, T x, int64_t) { return multiplyElements(acc, static_cast<Acc>(x)); }
  static Acc merge(Acc a, Acc b) { return multiplyElements(a, b); }
  static Acc finish(Acc acc, int64_t) { return acc; }
};

constexpr Reduction kSum = makeReduction<Sum>("sum", kAllTypes);
constexpr Reduction kProduct = makeReduction<Product>("prod", kAllTypes);
constexpr Reduction kMean = makeReduction<Mean>("mean", kFloatingTypes + kComplexTypes);

using IntSpan = std::span<const int64_t>;
using OptionalDims = std::optional<IntSpan>;
using OptionalType = std::optional<ScalarType>;

uint64_t maskOf(OptionalDims dims, const Tensor& self) {
  return shape::dimensionMask(dims.value_or(IntSpan()), self.dim());
}

// [self] converted to [dtype] is reduced, and the result is of [dtype] then.
Tensor reduceAs(const Reduction& op, const Tensor& self, uint64_t mask, bool keepdim, OptionalType dtype) {
  checkOnCpu(self);
  if (!dtype.has_value() || *dtype == self.scalar_type()) {
    Tensor result = reduce(op, self, mask, keepdim);
    return dtype.has_value() && *dtype != result.scalar_type() ? convertTo(result, *dtype) : result;
  }
  return reduceAs(op, convertTo(self, *dtype), mask, keepdim, dtype);
}

Tensor sum(const Tensor& self, OptionalType dtype) { return reduceAs(kSum, self, ~uint64_t{0}, false, dtype); }
Tensor sumDims(const Tensor& self, OptionalDims dim, bool keepdim, OptionalType dtype) {
  return reduceAs(kSum, self, maskOf(dim, self), keepdim, dtype);
}
Tensor& sumOut(const Tensor& self, OptionalDims dim, bool keepdim, OptionalType dtype, Tensor& out) {
  return writeResult(out, sumDims(self, dim, keepdim, dtype));
}

Tensor prod(const Tensor& self, OptionalType dtype) { return reduceAs(kProduct, self, ~uint64_t{0}, false, dtype); }
Tensor prodDim(const Tensor& self, int64_t dim, bool keepdim, OptionalType dtype) {
  return reduceAs(kProduct, self, uint64_t{1} << wrapDimension(dim, self.dim()), keepdim, dtype);
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
Tensor mean(const Tensor& self, OptionalType dtype) { return meanDims(self, std::nullopt, false, dtype); }
Tensor& meanOut(const Tensor& self, OptionalDims dim, bool keepdim, OptionalType dtype, Tensor& out) {
  return writeResult(out, meanDims(self, dim, keepdim, dtype));
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CPU, m) {
  m.impl("sum", BOXCAR_FN(sum));
  m.impl("sum.dim_IntList", BOXCAR_FN(sumDims));
  m.impl("sum.IntList_out", BOXCAR_FN(sumOut));
  m.impl("prod", BOXCAR_FN(prod));
  m.impl("prod.dim_int", BOXCAR_FN(prodDim));
  m.impl("mean", BOXCAR_FN(mean));
  m.impl("mean.dim", BOXCAR_FN(meanDims));
  m.impl("mean.out", BOXCAR_FN(meanOut));
}

}  // namespace boxcar::cpu
