#pragma once

#include <boxcar/backends/functors/arithmetic.h>
#include <boxcar/backends/functors/element.h>
#include <boxcar/backends/functors/functions.h>
#include <boxcar/backends/functors/host_device.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/scalar.h>
#include <boxcar/ivalue/tensor.h>

#include <complex>
#include <numbers>

// The element functions of family "complex" in pointwise_table.h.

namespace boxcar::functors {

// The angle to the positive real axis.
template <class T>
struct Angle {
  BOXCAR_HOST_DEVICE RealOf<T> operator()(T a) const {
    if constexpr (kIsComplex<T>) {
      return arg(a);
    } else {
      if (isNan(a)) return a;
      return a < T(0) ? static_cast<T>(std::numbers::pi) : T(0);
    }
  }
};

template <class T>
struct ConjPhysical {
  BOXCAR_HOST_DEVICE T operator()(T a) const {
    if constexpr (kIsComplex<T>) {
      return conj(a);
    } else {
      return a;
    }
  }
};

inline void checkParts(const Tensor& a, const Tensor& b) {
  for (const Tensor* part : {&a, &b}) {
    BOXCAR_CHECK(part->scalar_type() == ScalarType::Float || part->scalar_type() == ScalarType::Double,
                 "Expected both inputs to be Float or Double tensors but got {} and {}", a.scalar_type(),
                 b.scalar_type());
  }
  BOXCAR_CHECK(a.scalar_type() == b.scalar_type(),
               "Expected object of scalar type {} but got scalar type {} for second argument", a.scalar_type(),
               b.scalar_type());
}

template <class T>
struct Complex {
  static constexpr bool kExactOutput = true;
  static void check(const Tensor& real, const Tensor& imag) { checkParts(real, imag); }
  BOXCAR_HOST_DEVICE std::complex<T> operator()(T real, T imag) const { return {real, imag}; }
};

template <class T>
struct Polar {
  static constexpr bool kExactOutput = true;
  static void check(const Tensor& abs, const Tensor& angle) { checkParts(abs, angle); }
  BOXCAR_HOST_DEVICE std::complex<T> operator()(T abs, T angle) const { return {abs * cos(angle), abs * sin(angle)}; }
};

}  // namespace boxcar::functors
