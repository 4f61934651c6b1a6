#include <boxcar/backends/cpu/copy.h>
#include <boxcar/backends/cpu/functors.h>
#include <boxcar/backends/cpu/pointwise_registration.h>
#include <boxcar/backends/cpu/pointwise_table.h>
#include <boxcar/backends/cpu/registration.h>
#include <boxcar/ivalue/error.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <string_view>

namespace boxcar::cpu {
namespace {

template <class T>
struct Rectified {
  static constexpr VectorFunction kVector = VectorFunction::kRelu;
  static constexpr std::string_view kBoolRefusal = "Boolean inputs not supported for relu";
  // NaN stays NaN.
  T operator()(T a) const { return a < T(0) ? T(0) : a; }
};

template <class T>
struct LeakilyRectified {
  using Parameters = Arguments<const Scalar&>;
  static constexpr VectorFunction kVector = VectorFunction::kLeakyRelu;
  T slope;
  explicit LeakilyRectified(const Scalar* params) : slope(params->to<T>()) {}
  T operator()(T a) const { return a > T(0) ? a : a * slope; }
};

template <class T>
struct ExponentiallyRectified {
  using Parameters = Arguments<const Scalar&, const Scalar&, const Scalar&>;  // alpha, scale, input_scale
  static constexpr VectorFunction kVector = VectorFunction::kElu;
  T negative_scale, scale, input_scale;
  explicit ExponentiallyRectified(const Scalar* params)
      : negative_scale(params[0].to<T>() * params[1].to<T>()),
        scale(params[1].to<T>()),
        input_scale(params[2].to<T>()) {}
  T operator()(T a) const { return a <= T(0) ? std::expm1(a * input_scale) * negative_scale : a * scale; }
};

template <class T>
struct SigmoidLinear {
  static constexpr VectorFunction kVector = VectorFunction::kSilu;
  T operator()(T a) const { return a / (T(1) + std::exp(-a)); }
};

template <class T>
struct Mish {
  static constexpr VectorFunction kVector = VectorFunction::kMish;
  T operator()(T a) const { return a * std::tanh(std::log1p(std::exp(a))); }
};

template <class T>
struct Softplus {
  using Parameters = Arguments<const Scalar&, const Scalar&>;  // beta, threshold
  static constexpr VectorFunction kVector = VectorFunction::kSoftplus;
  T beta, threshold;
  explicit Softplus(const Scalar* params) : beta(params[0].to<T>()), threshold(params[1].to<T>()) {}
  T operator()(T a) const { return a * beta > threshold ? a : std::log1p(std::exp(a * beta)) / beta; }
};

template <class T>
struct LogSigmoid {
  static constexpr VectorFunction kVector = VectorFunction::kLogSigmoid;
  T operator()(T a) const { return (a > T(0) ? T(0) : a) - std::log1p(std::exp(-std::abs(a))); }
};

template <class T>
struct Threshold {
  using Parameters = Arguments<const Scalar&, const Scalar&>;  // threshold, value
  T threshold, value;
  explicit Threshold(const Scalar* params) : threshold(params[0].to<T>()), value(params[1].to<T>()) {}
  T operator()(T a) const { return a <= threshold ? value : a; }
};

template <class T>
struct HardTanh {
  static constexpr VectorFunction kVector = VectorFunction::kClamp;
  using Parameters = Arguments<const Scalar&, const Scalar&>;  // min_val, max_val
  static constexpr std::string_view kBoolRefusal = "Bool inputs not supported for hardtanh";
  static void check(const Tensor& self, const Scalar& min_val, const Scalar& max_val) {
    BOXCAR_CHECK(self.scalar_type() != ScalarType::Byte || (min_val.toDouble() >= 0 && max_val.toDouble() >= 0),
                 "cannot do hardtanh on an unsigned type with negative limits, here {} and {}", toString(min_val),
                 toString(max_val));
  }
  T low, high;
  explicit HardTanh(const Scalar* params) : low(params[0].to<T>()), high(params[1].to<T>()) {}
  T operator()(T a) const {
    const T raised = a < low ? low : a;
    return raised > high ? high : raised;
  }
};

// a + 3 brought between 0 and 6.
template <class T>
T hardSix(T a) {
  const T shifted = a + T(3);
  const T raised = shifted < T(0) ? T(0) : shifted;
  return raised > T(6) ? T(6) : raised;
}

template <class T>
struct HardSigmoid {
  T operator()(T a) const { return hardSix(a) / T(6); }
};

template <class T>
struct HardSwish {
  static constexpr VectorFunction kVector = VectorFunction::kHardswish;
  T operator()(T a) const { return a * hardSix(a) / T(6); }
};

template <class T>
struct HardShrink {
  using Parameters = Arguments<const Scalar&>;
  T lambd;
  explicit HardShrink(const Scalar* params) : lambd(params->to<T>()) {}
  T operator()(T a) const { return a >= -lambd && a <= lambd ? T(0) : a; }
};

template <class T>
struct SoftShrink {
  using Parameters = Arguments<const Scalar&>;
  static void check(const Tensor&, const Scalar& lambd) {
    BOXCAR_CHECK(lambd.toDouble() >= 0, "lambda must be greater or equal to 0, but found to be {}.", toString(lambd));
  }
  T lambd;
  explicit SoftShrink(const Scalar* params) : lambd(params->to<T>()) {}
  T operator()(T a) const { return a > lambd ? a - lambd : (a < -lambd ? a + lambd : T(0)); }
};

template <class T>
struct GaussianLinear {
  static constexpr VectorFunction kVector = VectorFunction::kGelu;
  T operator()(T a) const { return a * T(0.5) * (T(1) + std::erf(a * T(0.707106781186547524401))); }
};

template <class T>
struct GaussianLinearTanh {
  static constexpr VectorFunction kVector = VectorFunction::kGeluTanh;
  T operator()(T a) const {
    constexpr T kScale = T(0.797884560802865355880);  // sqrt(2/pi)
    return T(0.5) * a * (T(1) + std::tanh(kScale * (a + T(0.044715) * a * a * a)));
  }
};
constexpr const Pointwise& kLogSigmoid = kPointwise<"log_sigmoid", LogSigmoid, 1, Result::kSame, kFloatingTypes>;

// Its result is contiguous, whatever the input is.
Tensor logSigmoid(const Tensor& self) { return pointwise(kLogSigmoid, {toContiguous(self)}); }

constexpr Pointwise kGelu = makePointwise<GaussianLinear, 1, Result::kSame>("gelu", kFloatingTypes);
constexpr Pointwise kGeluTanh = makePointwise<GaussianLinearTanh, 1, Result::kSame>("gelu", kFloatingTypes);

const Pointwise& geluBy(std::string_view approximate) {
  BOXCAR_CHECK(approximate == "none" || approximate == "tanh",
               "approximate argument must be either none or tanh, but it is '{}'.", approximate);
  return approximate == "none" ? kGelu : kGeluTanh;
}
Tensor gelu(const Tensor& self, std::string_view approximate) { return pointwise(geluBy(approximate), {self}); }
Tensor& geluInPlace(Tensor& self, std::string_view approximate) {
  return pointwiseInPlace(geluBy(approximate), self, {self});
}
Tensor& geluOut(const Tensor& self, std::string_view approximate, Tensor& out) {
  return pointwiseOut(geluBy(approximate), out, {self});
}

}  // namespace

BOXCAR_CPU_AND_META(aten, m) {
  BOXCAR_ACTIVATION_OPERATORS(BOXCAR_REGISTER_POINTWISE)
  m.impl("log_sigmoid", BOXCAR_FN(logSigmoid));
  m.impl("gelu", BOXCAR_FN(gelu));
  m.impl("gelu_", BOXCAR_FN(geluInPlace));
  m.impl("gelu.out", BOXCAR_FN(geluOut));
}

}  // namespace boxcar::cpu
