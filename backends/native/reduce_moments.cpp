#include <boxcar/backends/functors/reduce_moments.h>
#include <boxcar/backends/meta/views.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/memory_checks.h>
#include <boxcar/backends/native/reduction.h>
#include <boxcar/backends/native/registration.h>
#include <boxcar/backends/native/write_out.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <optional>
#include <span>
#include <tuple>

// Variances and standard deviations, with or without the means.

namespace boxcar::native {
namespace {

constexpr Reduction kVar = makeReduction<Var>("var", kFloatingTypes + kComplexTypes);
constexpr Reduction kDeviation = makeReduction<Std>("std", kFloatingTypes + kComplexTypes);

using OptionalDims = std::optional<std::span<const int64_t>>;
using OptionalScalar = std::optional<Scalar>;

struct MomentsCall {
  uint64_t mask;
  double correction;

  MomentsCall(const Reduction& op, const Tensor& self, OptionalDims dim, const OptionalScalar& number) {
    checkDense(self);
    BOXCAR_CHECK(self.is_floating_point() || self.is_complex(),
                 "{} only support floating point and complex dtypes, not {}", op.name, dtypeName(self.scalar_type()));
    mask = meta::dimensionMask(dim.value_or(std::span<const int64_t>()), self.dim());
    correction = number.value_or(Scalar(1)).toDouble();
  }
};

template <const Reduction& op>
Tensor moment(const Tensor& self, OptionalDims dim, const OptionalScalar& correction, bool keepdim) {
  const MomentsCall call(op, self, dim, correction);
  return reduce(op, self, call.mask, keepdim, call.correction);
}

template <const Reduction& op>
Tensor& momentOut(const Tensor& self, OptionalDims dim, const OptionalScalar& correction, bool keepdim, Tensor& out) {
  // An output of higher precision gets the extra digits.
  const bool widens = out.scalar_type() != self.scalar_type() && elementSize(self.scalar_type()) == sizeof(Half);
  const bool is_float = self.is_floating_point();
  return writeResult(
      out, moment<op>(is_float && widens ? convertTo(self, ScalarType::Float) : self, dim, correction, keepdim));
}

template <const Reduction& op>
std::tuple<Tensor, Tensor> momentAndMean(const Tensor& self, OptionalDims dim, const OptionalScalar& correction,
                                         bool keepdim) {
  const MomentsCall call(op, self, dim, correction);
  return reduceToPair(op, self, call.mask, keepdim, call.correction);
}

}  // namespace

const Reduction& varianceReduction() { return kVar; }

BOXCAR_NATIVE_KERNELS(aten, m, runReduction) {
  m.impl("var.correction", BOXCAR_FN(moment<kVar>));
  m.impl("var.correction_out", BOXCAR_FN(momentOut<kVar>));
  m.impl("var_mean.correction", BOXCAR_FN(momentAndMean<kVar>));
  m.impl("std.correction", BOXCAR_FN(moment<kDeviation>));
  m.impl("std.correction_out", BOXCAR_FN(momentOut<kDeviation>));
  m.impl("std_mean.correction", BOXCAR_FN(momentAndMean<kDeviation>));
}

}  // namespace boxcar::native
