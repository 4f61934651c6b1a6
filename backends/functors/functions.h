#pragma once

#include <cmath>
#include <complex>

#ifdef __CUDACC__
#include <boxcar/backends/functors/complex_functions.h>
#endif

// The mathematical functions of elements, with the names of the standard library. Its functions of complex numbers are
// host-only, so they are overloaded for GPUs.

namespace boxcar::functors {

using std::abs;
using std::acos;
using std::acosh;
using std::arg;
using std::asin;
using std::asinh;
using std::atan;
using std::atan2;
using std::atanh;
using std::ceil;
using std::conj;
using std::copysign;
using std::cos;
using std::cosh;
using std::erf;
using std::erfc;
using std::exp;
using std::exp2;
using std::expm1;
using std::floor;
using std::fmod;
using std::hypot;
using std::isinf;
using std::isnan;
using std::log;
using std::log10;
using std::log1p;
using std::log2;
using std::nearbyint;
using std::nextafter;
using std::pow;
using std::sin;
using std::sinh;
using std::sqrt;
using std::tan;
using std::tanh;
using std::trunc;

}  // namespace boxcar::functors
