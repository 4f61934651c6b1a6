#pragma once

#include <boxcar/backends/functors/element.h>
#include <boxcar/backends/functors/functions.h>
#include <boxcar/backends/functors/host_device.h>

#include <complex>
#include <cstdint>
#include <type_traits>

// The numbers of sequences by index: arange, linspace and logspace.

namespace boxcar::functors {

// Computed in int64 or float64 from the index, so that rounding errors of steps do not accumulate.
template <class Number>
struct Steps {
  using Index = Number;
  Number first;
  Number step;
  BOXCAR_HOST_DEVICE Number operator()(Number i) const { return first + i * step; }
};

// The type that numbers between two ends are computed in.
template <class T>
using BetweenNumber = std::conditional_t<kIsComplex<T>, std::complex<double>, double>;

// Computed from the nearer end, so that the last number is [end] exactly.
template <class Number>
struct EqualDistances {
  using Index = double;
  Number start;
  Number end;
  Number step;
  double last;
  double middle;

  EqualDistances(Number from, Number to, int64_t steps)
      : start(from),
        end(to),
        step(steps > 1 ? (to - from) / static_cast<double>(steps - 1) : Number(0)),
        last(static_cast<double>(steps - 1)),
        // NOLINTNEXTLINE(bugprone-integer-division): a whole number
        middle(steps > 1 ? static_cast<double>(steps / 2) : 1.0) {}

  BOXCAR_HOST_DEVICE Number operator()(double i) const {
    return i < middle ? start + step * Number(i) : end - step * Number(last - i);
  }
};

template <class Number>
struct PowersAtDistances {
  using Index = double;
  EqualDistances<Number> exponents;
  Number base;
  BOXCAR_HOST_DEVICE Number operator()(double i) const { return pow(base, exponents(i)); }
};

}  // namespace boxcar::functors
