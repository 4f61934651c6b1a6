#pragma once

#include <boxcar/backends/functors/arithmetic.h>
#include <boxcar/backends/functors/element.h>
#include <boxcar/backends/functors/functions.h>
#include <boxcar/backends/functors/host_device.h>
#include <boxcar/backends/functors/parameters.h>
#include <boxcar/ivalue/scalar.h>

#include <limits>
#include <optional>

// The element functions of family "activation_gradients" in pointwise_table.h: the gradient of an activation's input
// from that of its result, and from its input or its result.

namespace boxcar::functors {

// grad times the conjugate of [slope].
template <class T>
BOXCAR_HOST_DEVICE T timesConjugate(T grad, T slope) {
  if constexpr (kIsComplex<T>) {
    return multiplyElements(grad, T(slope.real(), -slope.imag()));
  } else {
    return grad * slope;
  }
}

template <class T>
struct SigmoidBackward {
  BOXCAR_HOST_DEVICE T operator()(T grad, T result) const {
    return timesConjugate(grad, multiplyElements(T(1) - result, result));
  }
};

template <class T>
struct TanhBackward {
  BOXCAR_HOST_DEVICE T operator()(T grad, T result) const {
    return timesConjugate(grad, T(1) - multiplyElements(result, result));
  }
};

template <class T>
struct SiluBackward {
  BOXCAR_HOST_DEVICE T operator()(T grad, T a) const {
    const T sigmoid = divideElements(T(1), T(1) + exp(-a));
    return timesConjugate(grad, multiplyElements(sigmoid, T(1) + multiplyElements(a, T(1) - sigmoid)));
  }
};

template <class T>
struct MishBackward {
  BOXCAR_HOST_DEVICE T operator()(T grad, T a) const {
    const T sigmoid = T(1) / (T(1) + exp(-a));
    const T factor = tanh(log1p(exp(a)));
    return grad * (factor + a * sigmoid * (T(1) - factor * factor));
  }
};

// The distribution of a normal random number at a, plus a times its density there.
template <class T>
struct GeluBackward {
  BOXCAR_HOST_DEVICE T operator()(T grad, T a) const {
    const T distribution = T(0.5) * (T(1) + erf(a * T(0.707106781186547524401)));
    return grad * (distribution + a * exp(T(-0.5) * a * a) * T(0.398942280401432677940));
  }
};

template <class T>
struct GeluTanhBackward {
  BOXCAR_HOST_DEVICE T operator()(T grad, T a) const {
    constexpr T kScale = T(0.797884560802865355880);  // sqrt(2/pi)
    const T square = a * a;
    const T value = tanh(kScale * (a + T(0.044715) * square * a));
    const T slope = kScale * (T(1) + T(3 * 0.044715) * square);
    return grad * (T(0.5) * (T(1) + value) + T(0.5) * a * (T(1) - value * value) * slope);
  }
};

template <class T>
struct SoftplusBackward {
  using Parameters = Arguments<const Scalar&, const Scalar&>;  // beta, threshold
  T beta, threshold;
  explicit SoftplusBackward(const Scalar* params) : beta(params[0].to<T>()), threshold(params[1].to<T>()) {}
  BOXCAR_HOST_DEVICE T operator()(T grad, T a) const {
    const T power = exp(a * beta);
    return a * beta > threshold ? grad : grad * power / (power + T(1));
  }
};

template <class T>
struct LogSigmoidBackward {
  BOXCAR_HOST_DEVICE T operator()(T grad, T a) const {
    const T power = exp(-abs(a));
    return grad * (a < T(0) ? T(1) / (T(1) + power) : power / (T(1) + power));
  }
};

// The input comes first, as in PyTorch: the result has its layout.
template <class T>
struct ThresholdBackward {
  T threshold;
  explicit ThresholdBackward(const Scalar* params) : threshold(params->to<T>()) {}
  BOXCAR_HOST_DEVICE T operator()(T a, T grad) const { return a <= threshold ? T(0) : grad; }
};

template <class T>
struct LeakyReluBackward {
  T slope;
  explicit LeakyReluBackward(const Scalar* params) : slope(params->to<T>()) {}
  BOXCAR_HOST_DEVICE T operator()(T a, T grad) const { return a > T(0) ? grad : grad * slope; }
};

template <class T>
struct EluBackward {
  T negative_scale, scale, input_scale;
  bool is_result;
  explicit EluBackward(const Scalar* params)
      : negative_scale(params[0].to<T>() * params[1].to<T>()),
        scale(params[1].to<T>()),
        input_scale(params[2].to<T>()),
        is_result(params[3].toBool()) {}
  BOXCAR_HOST_DEVICE T operator()(T grad, T a) const {
    const T power = is_result ? a + negative_scale : negative_scale * exp(a * input_scale);
    return a > T(0) ? grad * scale : grad * input_scale * power;
  }
};

template <class T>
struct HardtanhBackward {
  using Parameters = Arguments<const Scalar&, const Scalar&>;  // min_val, max_val
  T low, high;
  explicit HardtanhBackward(const Scalar* params) : low(params[0].to<T>()), high(params[1].to<T>()) {}
  BOXCAR_HOST_DEVICE T operator()(T grad, T a) const { return a > low && a < high ? grad : T(0); }
};

template <class T>
struct HardsigmoidBackward {
  BOXCAR_HOST_DEVICE T operator()(T grad, T a) const { return a > T(-3) && a < T(3) ? grad / T(6) : T(0); }
};

template <class T>
struct HardswishBackward {
  BOXCAR_HOST_DEVICE T operator()(T grad, T a) const {
    const T inner = grad * (a / T(3) + T(0.5));
    return a <= T(-3) ? T(0) : (a >= T(3) ? grad : inner);
  }
};

// Of hardshrink and softshrink.
template <class T>
struct ShrinkBackward {
  using Parameters = Arguments<const Scalar&>;
  T lambd;
  explicit ShrinkBackward(const Scalar* params) : lambd(params->to<T>()) {}
  BOXCAR_HOST_DEVICE T operator()(T grad, T a) const { return a < -lambd || a > lambd ? grad : T(0); }
};

// 0 outside of the bounds of logit, or NaN where it has none.
template <class T>
struct LogitBackward {
  using Parameters = Arguments<std::optional<double>>;
  T low, high, outside;
  explicit LogitBackward(const Scalar* params)
      : low(params->isBoolean() ? T(0) : params->to<T>()),
        high(T(1) - low),
        outside(params->isBoolean() ? std::numeric_limits<T>::quiet_NaN() : T(0)) {}
  BOXCAR_HOST_DEVICE T operator()(T grad, T a) const {
    return a >= low && a <= high ? grad / (a * (T(1) - a)) : outside;
  }
};

// The gradient of the gates of glu.
template <class T>
struct GluGateBackward {
  BOXCAR_HOST_DEVICE T operator()(T grad, T value, T gate) const {
    const T sigmoid = T(1) / (T(1) + exp(-gate));
    return grad * value * sigmoid * (T(1) - sigmoid);
  }
};

}  // namespace boxcar::functors
