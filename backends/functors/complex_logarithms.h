#pragma once

#include <boxcar/backends/functors/arithmetic.h>
#include <boxcar/backends/functors/functions.h>
#include <boxcar/backends/functors/host_device.h>

#include <complex>
#include <limits>

// Exponentials and logarithms of complex numbers that the standard library lacks.

namespace boxcar::functors {

template <class R>
BOXCAR_HOST_DEVICE std::complex<R> expm1OfComplex(std::complex<R> a) {
  const R half = sin(a.imag() / R(2));
  return {expm1(a.real()) * cos(a.imag()) - R(2) * half * half, exp(a.real()) * sin(a.imag())};
}

template <class R>
BOXCAR_HOST_DEVICE std::complex<R> log1pOfComplex(std::complex<R> a) {
  const R x = a.real();
  const R y = a.imag();
  const R angle = atan2(y, x + R(1));
  if (!(hypot(x, y) < R(0.5))) return {log(hypot(x + R(1), y)), angle};
  // Near 1, the logarithm of the length loses all digits.
  const R squared = x * (R(2) + x) + y * y;
  return {squared == R(0) ? x : R(0.5) * log1p(squared), angle};
}

// log(exp(a) + exp(b)), relative to the one with the greater real part to avoid overflow.
template <class R>
BOXCAR_HOST_DEVICE std::complex<R> logAddExpOfComplex(std::complex<R> a, std::complex<R> b) {
  const R nan = std::numeric_limits<R>::quiet_NaN();
  if (isNan(a.real()) || isNan(a.imag()) || isNan(b.real()) || isNan(b.imag())) return {nan, nan};
  const bool swapped = a.real() < b.real();
  const std::complex<R> most = swapped ? b : a;
  const std::complex<R> least = swapped ? a : b;
  if (isinf(most.real()) && most.real() == least.real()) {
    if (most.real() < R(0)) return least;
    const std::complex<R> sum = exp(least) + exp(most);
    return {log(hypot(sum.real(), sum.imag())), atan2(sum.imag(), sum.real())};
  }
  const R scale = exp(least.real() - most.real());
  const R angle = least.imag() - most.imag();
  return most +
         log1pOfComplex(scale == R(0) ? std::complex<R>(0) : std::complex<R>(scale * cos(angle), scale * sin(angle)));
}

}  // namespace boxcar::functors
