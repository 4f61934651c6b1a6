#pragma once

#include <boxcar/backends/functors/functions.h>
#include <boxcar/backends/functors/host_device.h>
#include <boxcar/backends/functors/refusal.h>
#include <boxcar/ivalue/scalar.h>

#include <algorithm>

// The element functions of family "losses" in pointwise_table.h.

namespace boxcar::functors {

template <class T>
struct MseLoss {
  BOXCAR_HOST_DEVICE T operator()(T a, T b) const { return (a - b) * (a - b); }
};

// Quadratic for differences below beta, linear from there on.
template <class T>
struct SmoothL1Loss {
  T beta;
  explicit SmoothL1Loss(const Scalar* params) : beta(params->to<T>()) {}
  BOXCAR_HOST_DEVICE T operator()(T a, T b) const {
    const T difference = abs(a - b);
    return difference < beta ? T(0.5) * difference * difference / beta : difference - T(0.5) * beta;
  }
};

template <class T>
struct HuberLoss {
  T delta;
  explicit HuberLoss(const Scalar* params) : delta(params->to<T>()) {}
  BOXCAR_HOST_DEVICE T operator()(T a, T b) const {
    const T difference = abs(a - b);
    return difference <= delta ? T(0.5) * difference * difference : delta * (difference - T(0.5) * delta);
  }
};

// Logarithms are bounded, so that the loss of a certain but wrong prediction is finite.
template <class T>
struct BinaryCrossEntropy {
  static constexpr Refusal kRefusal = Refusal::kNotProbability;
  BOXCAR_HOST_DEVICE static bool accepts(T a, T) { return a >= T(0) && a <= T(1); }
  BOXCAR_HOST_DEVICE T operator()(T a, T target) const {
    BOXCAR_HOST_CHECK(accepts(a, target), "all elements of input should be between 0 and 1, but one is {}", a);
    return (target - T(1)) * std::max(log1p(-a), T(-100)) - target * std::max(log(a), T(-100));
  }
};

}  // namespace boxcar::functors
