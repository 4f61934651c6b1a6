#pragma once

#include <complex>
#include <cuda/std/complex>

// The functions of complex numbers that the standard library has for the host alone.

namespace boxcar::elements {
namespace detail {

template <class T>
__host__ __device__ inline ::cuda::std::complex<T> toCuda(const std::complex<T>& x) {
  return {x.real(), x.imag()};
}
template <class T>
__host__ __device__ inline std::complex<T> fromCuda(const ::cuda::std::complex<T>& x) {
  return {x.real(), x.imag()};
}

}  // namespace detail

#define BOXCAR_COMPLEX_FUNCTION(name)                                                   \
  __host__ __device__ inline std::complex<float> name(const std::complex<float>& x) {   \
    return detail::fromCuda(::cuda::std::name(detail::toCuda(x)));                      \
  }                                                                                     \
  __host__ __device__ inline std::complex<double> name(const std::complex<double>& x) { \
    return detail::fromCuda(::cuda::std::name(detail::toCuda(x)));                      \
  }
BOXCAR_COMPLEX_FUNCTION(exp)
BOXCAR_COMPLEX_FUNCTION(log)
BOXCAR_COMPLEX_FUNCTION(log10)
BOXCAR_COMPLEX_FUNCTION(sqrt)
BOXCAR_COMPLEX_FUNCTION(sin)
BOXCAR_COMPLEX_FUNCTION(cos)
BOXCAR_COMPLEX_FUNCTION(tan)
BOXCAR_COMPLEX_FUNCTION(asin)
BOXCAR_COMPLEX_FUNCTION(acos)
BOXCAR_COMPLEX_FUNCTION(atan)
BOXCAR_COMPLEX_FUNCTION(sinh)
BOXCAR_COMPLEX_FUNCTION(cosh)
BOXCAR_COMPLEX_FUNCTION(tanh)
BOXCAR_COMPLEX_FUNCTION(asinh)
BOXCAR_COMPLEX_FUNCTION(acosh)
BOXCAR_COMPLEX_FUNCTION(atanh)
#undef BOXCAR_COMPLEX_FUNCTION

#define BOXCAR_COMPLEX_FUNCTIONS(T)                                                                              \
  __host__ __device__ inline T abs(const std::complex<T>& x) { return ::cuda::std::hypot(x.real(), x.imag()); }  \
  __host__ __device__ inline T arg(const std::complex<T>& x) { return ::cuda::std::atan2(x.imag(), x.real()); }  \
  __host__ __device__ inline std::complex<T> conj(const std::complex<T>& x) { return {x.real(), -x.imag()}; }    \
  __host__ __device__ inline std::complex<T> pow(const std::complex<T>& base, const std::complex<T>& exponent) { \
    return detail::fromCuda(::cuda::std::pow(detail::toCuda(base), detail::toCuda(exponent)));                   \
  }
BOXCAR_COMPLEX_FUNCTIONS(float)
BOXCAR_COMPLEX_FUNCTIONS(double)
#undef BOXCAR_COMPLEX_FUNCTIONS

}  // namespace boxcar::elements
