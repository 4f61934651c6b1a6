#pragma once

#include <boxcar/backends/functors/arithmetic.h>
#include <boxcar/backends/functors/complex_logarithms.h>
#include <boxcar/backends/functors/element.h>
#include <boxcar/backends/functors/functions.h>
#include <boxcar/backends/functors/host_device.h>

#include <complex>
#include <cstdint>
#include <limits>

// How scans combine an element with those before it.

namespace boxcar::functors {

enum class Scan : uint8_t { kSum, kProd, kLogSumExp };

namespace detail {
template <class T>
struct Carried {
  using type = T;
};
template <>
struct Carried<float> {
  using type = double;
};
template <>
struct Carried<std::complex<float>> {
  using type = std::complex<double>;
};
}  // namespace detail

// The type that a scan of T accumulates in: float64 for float32, as in PyTorch.
template <class T>
using ScanType = typename detail::Carried<Compute<T>>::type;

template <Scan scan>
struct ScanStep;

template <>
struct ScanStep<Scan::kSum> {
  template <class A>
  BOXCAR_HOST_DEVICE static A identity() {
    return A(0);
  }
  template <class A>
  BOXCAR_HOST_DEVICE static A merge(A a, A b) {
    return addElements(a, b);
  }
};

template <>
struct ScanStep<Scan::kProd> {
  template <class A>
  BOXCAR_HOST_DEVICE static A identity() {
    return A(1);
  }
  template <class A>
  BOXCAR_HOST_DEVICE static A merge(A a, A b) {
    return multiplyElements(a, b);
  }
};

// log(exp(a) + exp(b)) without overflow.
template <>
struct ScanStep<Scan::kLogSumExp> {
  template <class A>
  BOXCAR_HOST_DEVICE static A identity() {
    return A(-std::numeric_limits<RealOf<A>>::infinity());
  }
  template <class A>
  BOXCAR_HOST_DEVICE static A merge(A a, A b) {
    if constexpr (kIsComplex<A>) {
      return logAddExpOfComplex(a, b);
    } else {
      const A least = isNan(a) || a < b ? a : b;
      const A greatest = isNan(a) || a < b ? b : a;
      if (isNan(a) || isNan(b)) return a + b;
      if (least == greatest && isinf(least)) return a;
      return greatest + log1p(exp(least - greatest));
    }
  }
};

// Whether the later [value] replaces [best], the greatest or least element so far: of equal elements the last is taken,
// and the last NaN once there is one.
template <bool greatest, class C>
BOXCAR_HOST_DEVICE inline bool followsAsExtreme(C best, C value) {
  const bool reaches = greatest ? value >= best : value <= best;
  return isNan(value) || (!isNan(best) && reaches);
}

}  // namespace boxcar::functors
