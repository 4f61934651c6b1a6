#include <boxcar/backends/composite/dtype.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>

#include <limits>
#include <optional>
#include <span>
#include <tuple>

// Reductions built from others.

namespace boxcar::composite {
namespace {

using IntSpan = std::span<const int64_t>;
using OptionalDims = std::optional<IntSpan>;
using OptionalType = std::optional<ScalarType>;

constexpr int64_t correctionOf(bool unbiased) { return unbiased ? 1 : 0; }

Tensor varAll(const Tensor& self, bool unbiased) {
  return boxcar::var(self, OptionalDims(), Scalar(correctionOf(unbiased)), false);
}
Tensor var(const Tensor& self, OptionalDims dim, bool unbiased, bool keepdim) {
  return boxcar::var(self, dim, Scalar(correctionOf(unbiased)), keepdim);
}
Tensor& varOut(const Tensor& self, OptionalDims dim, bool unbiased, bool keepdim, Tensor& out) {
  return boxcar::var_out(out, self, dim, Scalar(correctionOf(unbiased)), keepdim);
}
std::tuple<Tensor, Tensor> varMeanAll(const Tensor& self, bool unbiased) {
  return boxcar::var_mean(self, OptionalDims(), Scalar(correctionOf(unbiased)), false);
}
std::tuple<Tensor, Tensor> varMean(const Tensor& self, OptionalDims dim, bool unbiased, bool keepdim) {
  return boxcar::var_mean(self, dim, Scalar(correctionOf(unbiased)), keepdim);
}
Tensor stdAll(const Tensor& self, bool unbiased) {
  return boxcar::std(self, OptionalDims(), Scalar(correctionOf(unbiased)), false);
}
Tensor stdDims(const Tensor& self, OptionalDims dim, bool unbiased, bool keepdim) {
  return boxcar::std(self, dim, Scalar(correctionOf(unbiased)), keepdim);
}
Tensor& stdOut(const Tensor& self, OptionalDims dim, bool unbiased, bool keepdim, Tensor& out) {
  return boxcar::std_out(out, self, dim, Scalar(correctionOf(unbiased)), keepdim);
}
std::tuple<Tensor, Tensor> stdMeanAll(const Tensor& self, bool unbiased) {
  return boxcar::std_mean(self, OptionalDims(), Scalar(correctionOf(unbiased)), false);
}
std::tuple<Tensor, Tensor> stdMean(const Tensor& self, OptionalDims dim, bool unbiased, bool keepdim) {
  return boxcar::std_mean(self, dim, Scalar(correctionOf(unbiased)), keepdim);
}

constexpr bool isSmall(ScalarType type) { return type == ScalarType::Half || type == ScalarType::BFloat16; }

// Computations with several steps use float32 for float16 and bfloat16.
Tensor narrowed(const Tensor& result, ScalarType type) {
  return isSmall(type) && result.scalar_type() == ScalarType::Float ? boxcar::to(result, type) : result;
}

std::tuple<Tensor, Tensor> nanmeanParts(const Tensor& self, OptionalDims dim, bool keepdim, OptionalType dtype) {
  BOXCAR_CHECK(self.is_floating_point() || self.is_complex(),
               "nanmean(): expected input to have floating point or complex dtype but got {}",
               dtypeName(self.scalar_type()));
  BOXCAR_CHECK(!dtype.has_value() || isFloatingType(*dtype) || isComplexType(*dtype),
               "nanmean(): dtype must be floating point or complex, not {}", dtypeName(*dtype));
  const OptionalType type = dtype.has_value() && isSmall(*dtype) ? ScalarType::Float : dtype;
  const Tensor sums = boxcar::nansum(widened(self), dim, keepdim, type);
  return {sums, boxcar::sum(boxcar::logical_not(boxcar::isnan(self)), dim, keepdim)};
}
Tensor nanmean(const Tensor& self, OptionalDims dim, bool keepdim, OptionalType dtype) {
  const auto [sums, counts] = nanmeanParts(self, dim, keepdim, dtype);
  return narrowed(boxcar::div(sums, counts), dtype.value_or(self.scalar_type()));
}
Tensor& nanmeanOut(const Tensor& self, OptionalDims dim, bool keepdim, OptionalType dtype, Tensor& out) {
  const auto [sums, counts] = nanmeanParts(self, dim, keepdim, dtype);
  return boxcar::div_out(out, sums, counts);
}

Tensor countNonzero(const Tensor& self, std::optional<int64_t> dim) {
  if (dim.has_value()) return boxcar::count_nonzero(self, IntSpan(&*dim, 1));
  return boxcar::count_nonzero(self, IntSpan());
}

// Subtracts the maximum first, so that no exponential overflows; an infinite maximum stays the result.
std::tuple<Tensor, Tensor> logsumexpParts(const Tensor& self, IntSpan dim, bool keepdim) {
  const bool is_integral = isIntegralType(self.scalar_type(), /*includeBool=*/true);
  const Tensor x = is_integral ? boxcar::to(self, ScalarType::Float) : widened(self);
  if (x.numel() == 0) {
    const Tensor sums = boxcar::sum(boxcar::exp(x), dim, keepdim);
    return {sums, boxcar::zeros_like(sums)};
  }
  // Complex numbers have no order; the real part decides.
  const Tensor greatest = boxcar::amax(x.is_complex() ? boxcar::real(x) : x, dim, /*keepdim=*/true);
  const Tensor shift =
      boxcar::masked_fill(greatest, boxcar::eq(boxcar::abs(greatest), std::numeric_limits<double>::infinity()), 0);
  const Tensor sums = boxcar::sum(boxcar::exp(boxcar::sub(x, shift)), dim, keepdim);
  return {sums, keepdim ? shift : boxcar::reshape(shift, sums.sizes())};
}
Tensor logsumexp(const Tensor& self, IntSpan dim, bool keepdim) {
  const auto [sums, shift] = logsumexpParts(self, dim, keepdim);
  return narrowed(boxcar::add(boxcar::log(sums), shift), self.scalar_type());
}
Tensor& logsumexpOut(const Tensor& self, IntSpan dim, bool keepdim, Tensor& out) {
  const auto [sums, shift] = logsumexpParts(self, dim, keepdim);
  return boxcar::add_out(out, boxcar::log(sums), shift);
}

Tensor& softmaxOut(const Tensor& self, int64_t dim, OptionalType dtype, Tensor& out) {
  return boxcar::_softmax_out(out, converted(self, dtype), dim, /*half_to_float=*/false);
}
Tensor& logSoftmaxOut(const Tensor& self, int64_t dim, OptionalType dtype, Tensor& out) {
  return boxcar::_log_softmax_out(out, converted(self, dtype), dim, /*half_to_float=*/false);
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) {
  m.impl("var", BOXCAR_FN(varAll));
  m.impl("var.dim", BOXCAR_FN(var));
  m.impl("var.out", BOXCAR_FN(varOut));
  m.impl("var_mean", BOXCAR_FN(varMeanAll));
  m.impl("var_mean.dim", BOXCAR_FN(varMean));
  m.impl("std", BOXCAR_FN(stdAll));
  m.impl("std.dim", BOXCAR_FN(stdDims));
  m.impl("std.out", BOXCAR_FN(stdOut));
  m.impl("std_mean", BOXCAR_FN(stdMeanAll));
  m.impl("std_mean.dim", BOXCAR_FN(stdMean));
  m.impl("nanmean", BOXCAR_FN(nanmean));
  m.impl("nanmean.out", BOXCAR_FN(nanmeanOut));
}

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("count_nonzero", BOXCAR_FN(countNonzero));
  m.impl("logsumexp", BOXCAR_FN(logsumexp));
  m.impl("logsumexp.out", BOXCAR_FN(logsumexpOut));
  m.impl("softmax.int_out", BOXCAR_FN(softmaxOut));
  m.impl("log_softmax.int_out", BOXCAR_FN(logSoftmaxOut));
}

}  // namespace boxcar::composite
