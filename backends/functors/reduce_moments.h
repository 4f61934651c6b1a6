#pragma once

#include <boxcar/backends/functors/arithmetic.h>
#include <boxcar/backends/functors/element.h>
#include <boxcar/backends/functors/functions.h>
#include <boxcar/backends/functors/host_device.h>
#include <boxcar/backends/functors/moments.h>
#include <boxcar/backends/functors/reducer_list.h>

#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>

// Variances and standard deviations, with or without the means.

namespace boxcar::functors {

// The sum of squared deviations divided by count - correction, and as second result the mean. For complex elements, the
// variances of both parts are added.
template <class T>
struct Var {
  using Part = RealOf<Compute<T>>;
  using Mean = std::conditional_t<kIsComplex<T>, std::complex<double>, double>;
  using Acc = Moments<Mean>;
  using Out = RealOf<T>;
  using Second = T;
  static constexpr bool kUnordered = false;

  explicit Var(double divisor_correction) : correction(divisor_correction) {}

  BOXCAR_HOST_DEVICE static Acc identity() { return {0, Mean(0), 0}; }
  BOXCAR_HOST_DEVICE static Acc take(const Acc& acc, T x, int64_t) {
    const Mean value = convertElement<Mean>(x);
    const double count = acc.count + 1;
    const Mean delta = value - acc.mean;
    return {count, acc.mean + delta / count, acc.squares + Acc::squareOf(delta) * (acc.count / count)};
  }
  BOXCAR_HOST_DEVICE static Acc merge(const Acc& a, const Acc& b) { return Acc::merge(a, b); }
  BOXCAR_HOST_DEVICE double finish(const Acc& acc, int64_t) const {
    return acc.squares / (acc.count > correction ? acc.count - correction : 0.0);
  }
  BOXCAR_HOST_DEVICE static auto second(const Acc& acc, int64_t) {
    const Mean mean = acc.count == 0 ? Mean(std::numeric_limits<double>::quiet_NaN()) : acc.mean;
    if constexpr (kIsComplex<T>) {
      return T(static_cast<Part>(mean.real()), static_cast<Part>(mean.imag()));
    } else {
      return static_cast<Part>(mean);
    }
  }

  double correction;
};

template <class T>
struct Std : Var<T> {
  using Var<T>::Var;
  BOXCAR_HOST_DEVICE double finish(const typename Var<T>::Acc& acc, int64_t count) const {
    return sqrt(Var<T>::finish(acc, count));
  }
};

}  // namespace boxcar::functors
