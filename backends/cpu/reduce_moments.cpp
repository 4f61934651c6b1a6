#include <boxcar/backends/cpu/copy.h>
#include <boxcar/backends/cpu/functors.h>
#include <boxcar/backends/cpu/moments.h>
#include <boxcar/backends/cpu/registration.h>
#include <boxcar/backends/shape/views.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <optional>
#include <span>
#include <tuple>

// Variances and standard deviations, with or without the means.

namespace boxcar::cpu {
namespace {

// The variance, divided by count - correction, and as second result the mean. Those of complex elements add up the
// variances of both parts.
template <class T>
struct Variance {
  using Part = RealOf<Compute<T>>;
  using Mean = std::conditional_t<kIsComplex<T>, std::complex<double>, double>;
  using Acc = Moments<Mean>;
  using Out = RealOf<T>;
  using Second = T;
  static constexpr bool kUnordered = false;

  explicit Variance(double divisor_correction) : correction(divisor_correction) {}

  static Acc identity() { return {0, Mean(0), 0}; }
  static Acc take(const Acc& acc, T x, int64_t) {
    const Mean value = static_cast<Mean>(static_cast<Compute<T>>(x));
    const double count = acc.count + 1;
    const Mean delta = value - acc.mean;
    return {count, acc.mean + delta / count, acc.squares + Acc::squareOf(delta) * (acc.count / count)};
  }
  static Acc merge(const Acc& a, const Acc& b) { return Acc::merge(a, b); }
  double finish(const Acc& acc, int64_t) const { return acc.squares / std::max(0.0, acc.count - correction); }
  static auto second(const Acc& acc, int64_t) {
    const Mean mean = acc.count == 0 ? Mean(std::numeric_limits<double>::quiet_NaN()) : acc.mean;
    if constexpr (kIsComplex<T>) {
      return T(static_cast<Part>(mean.real()), static_cast<Part>(mean.imag()));
    } else {
      return static_cast<Part>(mean);
    }
  }

  static Acc run(const T* x, int64_t n, int64_t) requires(!kIsComplex<T>) {
    if (n == 0) return identity();
    if constexpr (std::is_same_v<T, Part>) {
      return rowMoments(x, n);
    } else {
      constexpr int64_t kBuffer = 512;
      Part buffer[kBuffer];
      Acc acc = identity();
      for (int64_t i = 0; i < n; i += kBuffer) {
        const int64_t count = std::min(kBuffer, n - i);
        for (int64_t k = 0; k < count; ++k) buffer[k] = static_cast<Part>(x[i + k]);
        acc = merge(acc, rowMoments(buffer, count));
      }
      return acc;
    }
  }

  static void columns(Acc* acc, const char* in, int64_t step, int64_t n, int64_t,
                      int64_t width) requires(!kIsComplex<T>) {
    constexpr int64_t kWidth = 64;
    const auto count = static_cast<double>(n);
    for (; width > 0; acc += kWidth, in += kWidth * sizeof(T), width -= kWidth) {
      const int64_t part = std::min(kWidth, width);
      double means[kWidth] = {};
      double squares[kWidth] = {};
      const auto forRows = [&](auto&& take) {
        for (int64_t i = 0; i < n; ++i) {
          const T* x = reinterpret_cast<const T*>(in + i * step);
          for (int64_t k = 0; k < part; ++k) take(k, static_cast<double>(static_cast<Part>(x[k])));
        }
      };
      forRows([&](int64_t k, double x) { means[k] += x; });
      for (double& mean : means) mean /= count;
      forRows([&](int64_t k, double x) { squares[k] += (x - means[k]) * (x - means[k]); });
      for (int64_t k = 0; k < part; ++k) acc[k] = merge(acc[k], {count, means[k], squares[k]});
    }
  }

  double correction;
};

template <class T>
struct StandardDeviation : Variance<T> {
  using Variance<T>::Variance;
  double finish(const typename Variance<T>::Acc& acc, int64_t count) const {
    return std::sqrt(Variance<T>::finish(acc, count));
  }
};

constexpr Reduction kVariance = makeReduction<Variance>("var", kFloatingTypes + kComplexTypes);
constexpr Reduction kDeviation = makeReduction<StandardDeviation>("std", kFloatingTypes + kComplexTypes);

using OptionalDims = std::optional<std::span<const int64_t>>;
using OptionalScalar = std::optional<Scalar>;

struct MomentsCall {
  uint64_t mask;
  double correction;

  MomentsCall(const Reduction& op, const Tensor& self, OptionalDims dim, const OptionalScalar& number) {
    checkCpuOrMeta(self);
    BOXCAR_CHECK(self.is_floating_point() || self.is_complex(),
                 "{} only support floating point and complex dtypes, not {}", op.name, dtypeName(self.scalar_type()));
    mask = shape::dimensionMask(dim.value_or(std::span<const int64_t>()), self.dim());
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
  // An output of more digits is to have them.
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

const Reduction& varianceReduction() { return kVariance; }

BOXCAR_CPU_AND_META(aten, m) {
  m.impl("var.correction", BOXCAR_FN(moment<kVariance>));
  m.impl("var.correction_out", BOXCAR_FN(momentOut<kVariance>));
  m.impl("var_mean.correction", BOXCAR_FN(momentAndMean<kVariance>));
  m.impl("std.correction", BOXCAR_FN(moment<kDeviation>));
  m.impl("std.correction_out", BOXCAR_FN(momentOut<kDeviation>));
  m.impl("std_mean.correction", BOXCAR_FN(momentAndMean<kDeviation>));
}

}  // namespace boxcar::cpu
