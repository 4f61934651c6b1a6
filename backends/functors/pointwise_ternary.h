#pragma once

#include <boxcar/backends/functors/arithmetic.h>
#include <boxcar/backends/functors/clamp_bounds.h>
#include <boxcar/backends/functors/element.h>
#include <boxcar/backends/functors/functions.h>
#include <boxcar/backends/functors/host_device.h>
#include <boxcar/backends/functors/parameters.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/scalar.h>
#include <boxcar/ivalue/tensor.h>

#include <string_view>

// The element functions of family "ternary" in pointwise_table.h.

namespace boxcar::functors {

// a + value * b * c
template <class T>
struct Addcmul {
  using Parameters = Arguments<const Scalar&>;
  T value;
  explicit Addcmul(const Scalar* params) : value(params->to<T>()) {}
  BOXCAR_HOST_DEVICE T operator()(T a, T b, T c) const {
    return addElements(a, multiplyElements(multiplyElements(value, b), c));
  }
};

// a + value * b / c
template <class T>
struct Addcdiv {
  using Parameters = Arguments<const Scalar&>;
  static void check(const Tensor&, const Tensor& tensor1, const Tensor& tensor2, const Scalar&) {
    BOXCAR_CHECK(!(isIntegralType(tensor1.scalar_type(), /*includeBool=*/true) &&
                   isIntegralType(tensor2.scalar_type(), /*includeBool=*/true)),
                 "Integer division with addcdiv is not supported: tensor1 is {} and tensor2 {}. Convert one of them to "
                 "a floating point type.",
                 tensor1.scalar_type(), tensor2.scalar_type());
  }
  T value;
  explicit Addcdiv(const Scalar* params) : value(params->to<T>()) {}
  BOXCAR_HOST_DEVICE T operator()(T a, T b, T c) const { return a + divideElements(multiplyElements(value, b), c); }
};

// Relative to the nearer end, so that both ends are exact.
template <class T>
BOXCAR_HOST_DEVICE T interpolate(T start, T end, T weight) {
  return abs(weight) < RealOf<T>(0.5) ? start + weight * (end - start) : end - (end - start) * (T(1) - weight);
}

inline void checkSameType(const Tensor& self, const Tensor& other, std::string_view name) {
  BOXCAR_CHECK(self.scalar_type() == other.scalar_type(), "expected dtype {} for `{}` but got dtype {}",
               self.scalar_type(), name, other.scalar_type());
}

template <class T>
struct Lerp {
  static void check(const Tensor& self, const Tensor& end, const Tensor& weight) {
    checkSameType(self, end, "end");
    checkSameType(self, weight, "weight");
  }
  BOXCAR_HOST_DEVICE T operator()(T start, T end, T weight) const { return interpolate(start, end, weight); }
};

template <class T>
struct LerpScalar {
  using Parameters = Arguments<const Scalar&>;
  static void check(const Tensor& self, const Tensor& end, const Scalar&) { checkSameType(self, end, "end"); }
  T weight;
  explicit LerpScalar(const Scalar* params) : weight(params->to<T>()) {}
  BOXCAR_HOST_DEVICE T operator()(T start, T end) const { return interpolate(start, end, weight); }
};

template <class T>
struct ClampMin {
  static Scalar fit(const Tensor& self, const Scalar& bound) { return lowerBound(self, bound); }
  BOXCAR_HOST_DEVICE T operator()(T a, T b) const { return a > b || isNan(a) ? a : b; }
};

template <class T>
struct ClampMax {
  static Scalar fit(const Tensor& self, const Scalar& bound) { return upperBound(self, bound); }
  BOXCAR_HOST_DEVICE T operator()(T a, T b) const { return a < b || isNan(a) ? a : b; }
};

// NaN stays NaN, a NaN bound makes the result NaN, and the upper bound wins over the lower one.
template <class T>
struct Clamp {
  BOXCAR_HOST_DEVICE T operator()(T a, T low, T high) const {
    if (isNan(low)) return low;
    if (isNan(high)) return high;
    const T raised = a < low ? low : a;
    return raised > high ? high : raised;
  }
};

// Like Clamp, with two numbers as bounds, for floats.
template <class T>
struct ClampScalar {
  Clamp<T> between;
  T low, high;
  explicit ClampScalar(const Scalar* params) : low(params[0].to<T>()), high(params[1].to<T>()) {}
  BOXCAR_HOST_DEVICE T operator()(T a) const { return between(a, low, high); }
};

}  // namespace boxcar::functors
