#pragma once

#include <boxcar/backends/functors/arithmetic.h>
#include <boxcar/backends/functors/functions.h>
#include <boxcar/backends/functors/host_device.h>
#include <boxcar/backends/functors/refusal.h>
#include <boxcar/ivalue/scalar.h>

// The element functions of family "arithmetic" in pointwise_table.h.

namespace boxcar::functors {

template <class T>
struct Add {
  BOXCAR_HOST_DEVICE T operator()(T a, T b) const { return addElements(a, b); }
};

template <class T>
struct Sub {
  BOXCAR_HOST_DEVICE T operator()(T a, T b) const { return subtractElements(a, b); }
};

// Both read alpha, in the common type.
template <class T>
T readAlpha(const Scalar* params) {
  return params->to<T>();
}

template <class T>
struct AddScaled {
  T alpha;
  explicit AddScaled(const Scalar* params) : alpha(readAlpha<T>(params)) {}
  BOXCAR_HOST_DEVICE T operator()(T a, T b) const { return addElements(a, multiplyElements(alpha, b)); }
};

template <class T>
struct SubScaled {
  T alpha;
  explicit SubScaled(const Scalar* params) : alpha(readAlpha<T>(params)) {}
  BOXCAR_HOST_DEVICE T operator()(T a, T b) const { return subtractElements(a, multiplyElements(alpha, b)); }
};

template <class T>
struct Mul {
  BOXCAR_HOST_DEVICE T operator()(T a, T b) const { return multiplyElements(a, b); }
};

template <class T>
struct Div {
  BOXCAR_HOST_DEVICE T operator()(T a, T b) const { return divideElements(a, b); }
};

// Integers refuse division by zero.
template <class T>
struct IntegerDivision {
  static constexpr bool kMayFail = true;
  static constexpr Refusal kRefusal = Refusal::kZeroDivision;
  BOXCAR_HOST_DEVICE static bool accepts(T, T divisor) { return !kIsInteger<T> || divisor != T(0); }
};

template <class T>
struct DivTrunc : IntegerDivision<T> {
  BOXCAR_HOST_DEVICE T operator()(T a, T b) const { return truncatedQuotient(a, b); }
};

template <class T>
struct FloorDivide : IntegerDivision<T> {
  BOXCAR_HOST_DEVICE T operator()(T a, T b) const { return flooredQuotient(a, b); }
};

template <class T>
struct Remainder : IntegerDivision<T> {
  BOXCAR_HOST_DEVICE T operator()(T a, T b) const { return flooredRemainder(a, b); }
};

template <class T>
struct Maximum {
  BOXCAR_HOST_DEVICE T operator()(T a, T b) const {
    // NaN propagates from either side.
    return a > b || isNan(a) ? a : b;
  }
};

template <class T>
struct Minimum {
  BOXCAR_HOST_DEVICE T operator()(T a, T b) const { return a < b || isNan(a) ? a : b; }
};

// A number wins over NaN.
template <class T>
struct Fmax {
  BOXCAR_HOST_DEVICE T operator()(T a, T b) const { return a > b || isNan(b) ? a : b; }
};

template <class T>
struct Fmin {
  BOXCAR_HOST_DEVICE T operator()(T a, T b) const { return a < b || isNan(b) ? a : b; }
};

// The remainder of division rounded toward zero, which has the sign of the dividend.
template <class T>
struct Fmod : IntegerDivision<T> {
  BOXCAR_HOST_DEVICE T operator()(T a, T b) const {
    if constexpr (kIsInteger<T>) {
      return subtractElements(a, multiplyElements(truncatedQuotient(a, b), b));
    } else {
      return fmod(a, b);
    }
  }
};

}  // namespace boxcar::functors
