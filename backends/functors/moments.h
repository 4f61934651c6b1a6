#pragma once

#include <boxcar/backends/functors/functions.h>
#include <boxcar/backends/functors/host_device.h>

#include <complex>

namespace boxcar::functors {

// The number of elements, their mean, and the sum of squared deviations from it, in float64.
template <class Mean>
struct Moments {
  double count;
  Mean mean;
  double squares;

  BOXCAR_HOST_DEVICE static Moments merge(const Moments& a, const Moments& b) {
    if (a.count == 0) return b;
    if (b.count == 0) return a;
    const double count = a.count + b.count;
    const Mean delta = b.mean - a.mean;
    return {count, a.mean + delta * (b.count / count),
            a.squares + b.squares + squareOf(delta) * a.count * (b.count / count)};
  }
  BOXCAR_HOST_DEVICE static double squareOf(double x) { return x * x; }
  BOXCAR_HOST_DEVICE static double squareOf(std::complex<double> x) {
    return x.real() * x.real() + x.imag() * x.imag();
  }
};

}  // namespace boxcar::functors
