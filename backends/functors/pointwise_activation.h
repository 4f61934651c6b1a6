#pragma once

#include <boxcar/backends/functors/arithmetic.h>
#include <boxcar/backends/functors/clamp_bounds.h>
#include <boxcar/backends/functors/functions.h>
#include <boxcar/backends/functors/host_device.h>
#include <boxcar/backends/functors/parameters.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/scalar.h>
#include <boxcar/ivalue/tensor.h>

#include <string_view>

// The element functions of family "activation" in pointwise_table.h.

namespace boxcar::functors {

template <class T>
struct Relu {
  static constexpr std::string_view kBoolRefusal = "Boolean inputs not supported for relu";
  // NaN stays NaN.
  BOXCAR_HOST_DEVICE T operator()(T a) const { return a < T(0) ? T(0) : a; }
};

template <class T>
struct LeakyRelu {
  using Parameters = Arguments<const Scalar&>;
  T slope;
  explicit LeakyRelu(const Scalar* params) : slope(params->to<T>()) {}
  BOXCAR_HOST_DEVICE T operator()(T a) const { return a > T(0) ? a : a * slope; }
};

template <class T>
struct Elu {
  using Parameters = Arguments<const Scalar&, const Scalar&, const Scalar&>;  // alpha, scale, input_scale
  T negative_scale, scale, input_scale;
  explicit Elu(const Scalar* params)
      : negative_scale(params[0].to<T>() * params[1].to<T>()),
        scale(params[1].to<T>()),
        input_scale(params[2].to<T>()) {}
  BOXCAR_HOST_DEVICE T operator()(T a) const { return a <= T(0) ? expm1(a * input_scale) * negative_scale : a * scale; }
};

template <class T>
struct Silu {
  BOXCAR_HOST_DEVICE T operator()(T a) const { return a / (T(1) + exp(-a)); }
};

template <class T>
struct Mish {
  BOXCAR_HOST_DEVICE T operator()(T a) const { return a * tanh(log1p(exp(a))); }
};

template <class T>
struct Softplus {
  using Parameters = Arguments<const Scalar&, const Scalar&>;  // beta, threshold
  T beta, threshold;
  explicit Softplus(const Scalar* params) : beta(params[0].to<T>()), threshold(params[1].to<T>()) {}
  BOXCAR_HOST_DEVICE T operator()(T a) const { return a * beta > threshold ? a : log1p(exp(a * beta)) / beta; }
};

template <class T>
struct LogSigmoid {
  BOXCAR_HOST_DEVICE T operator()(T a) const { return (a > T(0) ? T(0) : a) - log1p(exp(-abs(a))); }
};

template <class T>
struct Threshold {
  using Parameters = Arguments<const Scalar&, const Scalar&>;  // threshold, value
  T threshold, value;
  explicit Threshold(const Scalar* params) : threshold(params[0].to<T>()), value(params[1].to<T>()) {}
  BOXCAR_HOST_DEVICE T operator()(T a) const { return a <= threshold ? value : a; }
};

template <class T>
struct Hardtanh {
  using Parameters = Arguments<const Scalar&, const Scalar&>;  // min_val, max_val
  static constexpr std::string_view kBoolRefusal = "Bool inputs not supported for hardtanh";
  static void check(const Tensor& self, const Scalar& min_val, const Scalar& max_val) {
    lowerBound(self, min_val);
    upperBound(self, max_val);
  }
  T low, high;
  explicit Hardtanh(const Scalar* params) : low(boundAs<T>(params[0])), high(boundAs<T>(params[1])) {}
  BOXCAR_HOST_DEVICE T operator()(T a) const {
    const T raised = a < low ? low : a;
    return raised > high ? high : raised;
  }
};

// a + 3, clamped to [0, 6].
template <class T>
BOXCAR_HOST_DEVICE T hardSix(T a) {
  const T shifted = a + T(3);
  const T raised = shifted < T(0) ? T(0) : shifted;
  return raised > T(6) ? T(6) : raised;
}

template <class T>
struct Hardsigmoid {
  BOXCAR_HOST_DEVICE T operator()(T a) const { return hardSix(a) / T(6); }
};

template <class T>
struct Hardswish {
  BOXCAR_HOST_DEVICE T operator()(T a) const { return a * hardSix(a) / T(6); }
};

template <class T>
struct Hardshrink {
  using Parameters = Arguments<const Scalar&>;
  T lambd;
  explicit Hardshrink(const Scalar* params) : lambd(params->to<T>()) {}
  BOXCAR_HOST_DEVICE T operator()(T a) const { return a >= -lambd && a <= lambd ? T(0) : a; }
};

template <class T>
struct Softshrink {
  using Parameters = Arguments<const Scalar&>;
  static void check(const Tensor&, const Scalar& lambd) {
    BOXCAR_CHECK(lambd.toDouble() >= 0, "lambda must be greater or equal to 0, but found to be {}.", toString(lambd));
  }
  T lambd;
  explicit Softshrink(const Scalar* params) : lambd(params->to<T>()) {}
  BOXCAR_HOST_DEVICE T operator()(T a) const {
    if (isNan(a)) return a;
    return a > lambd ? a - lambd : (a < -lambd ? a + lambd : T(0));
  }
};

template <class T>
struct Gelu {
  BOXCAR_HOST_DEVICE T operator()(T a) const { return a * T(0.5) * (T(1) + erf(a * T(0.707106781186547524401))); }
};

template <class T>
struct GeluTanh {
  BOXCAR_HOST_DEVICE T operator()(T a) const {
    constexpr T kScale = T(0.797884560802865355880);  // sqrt(2/pi)
    return T(0.5) * a * (T(1) + tanh(kScale * (a + T(0.044715) * a * a * a)));
  }
};

}  // namespace boxcar::functors
