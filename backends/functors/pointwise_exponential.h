#pragma once

#include <boxcar/backends/functors/arithmetic.h>
#include <boxcar/backends/functors/complex_logarithms.h>
#include <boxcar/backends/functors/element.h>
#include <boxcar/backends/functors/functions.h>
#include <boxcar/backends/functors/host_device.h>
#include <boxcar/backends/functors/parameters.h>
#include <boxcar/ivalue/scalar.h>

#include <optional>

// The element functions of family "exponential" in pointwise_table.h.

namespace boxcar::functors {

template <class T>
struct Exp {
  BOXCAR_HOST_DEVICE T operator()(T a) const { return exp(a); }
};

template <class T>
struct Exp2 {
  BOXCAR_HOST_DEVICE T operator()(T a) const {
    if constexpr (kIsComplex<T>) {
      const RealOf<T> two = log(RealOf<T>(2));
      return exp(T(a.real() * two, a.imag() * two));
    } else {
      return exp2(a);
    }
  }
};

template <class T>
struct Expm1 {
  BOXCAR_HOST_DEVICE T operator()(T a) const {
    if constexpr (kIsComplex<T>) {
      return expm1OfComplex(a);
    } else {
      return expm1(a);
    }
  }
};

template <class T>
struct Log {
  BOXCAR_HOST_DEVICE T operator()(T a) const { return log(a); }
};

template <class T>
struct Log2 {
  BOXCAR_HOST_DEVICE T operator()(T a) const {
    if constexpr (kIsComplex<T>) {
      // Divide each part separately: a complex division turns infinite parts into NaN.
      const T natural = log(a);
      const RealOf<T> two = log(RealOf<T>(2));
      return T(natural.real() / two, natural.imag() / two);
    } else {
      return log2(a);
    }
  }
};

template <class T>
struct Log10 {
  BOXCAR_HOST_DEVICE T operator()(T a) const { return log10(a); }
};

template <class T>
struct Log1p {
  BOXCAR_HOST_DEVICE T operator()(T a) const {
    if constexpr (kIsComplex<T>) {
      return log1pOfComplex(a);
    } else {
      return log1p(a);
    }
  }
};

// log(a / (1 - a)), with a clamped to [eps, 1 - eps] if eps is given.
template <class T>
struct Logit {
  using Parameters = Arguments<std::optional<double>>;
  bool bounded;
  T low;
  explicit Logit(const Scalar* params) : bounded(!params->isBoolean()), low(bounded ? params->to<T>() : T(0)) {}
  BOXCAR_HOST_DEVICE T operator()(T a) const {
    if (bounded) a = a < low ? low : (a > T(1) - low ? T(1) - low : a);
    return log(a / (T(1) - a));
  }
};

template <class T>
struct Sqrt {
  BOXCAR_HOST_DEVICE T operator()(T a) const { return sqrt(a); }
};

template <class T>
struct Rsqrt {
  BOXCAR_HOST_DEVICE T operator()(T a) const { return divideElements(T(1), sqrt(a)); }
};

template <class T>
struct Reciprocal {
  BOXCAR_HOST_DEVICE T operator()(T a) const { return divideElements(T(1), a); }
};

template <class T>
struct Sigmoid {
  BOXCAR_HOST_DEVICE T operator()(T a) const { return T(1) / (T(1) + exp(-a)); }
};

}  // namespace boxcar::functors
