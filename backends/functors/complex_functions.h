#pragma once

#include <complex>
#include <cuda/std/complex>

// Complex functions that the standard library has only for the host, and complex operators. nvcc silently compiles the
// standard library's operators to nothing, because they use += and the like of the compiler's own complex types. Inside
// boxcar::functors, and where that namespace is used, the operators here are preferred. Device code must not use
// operations that call std::complex's members (x += y, x = 1.0F, a conversion between two complex types).

namespace boxcar::functors {
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

#define BOXCAR_COMPLEX_OPERATORS(T)                                                                          \
  __host__ __device__ inline std::complex<T> operator+(const std::complex<T>& a, const std::complex<T>& b) { \
    return {a.real() + b.real(), a.imag() + b.imag()};                                                       \
  }                                                                                                          \
  __host__ __device__ inline std::complex<T> operator-(const std::complex<T>& a, const std::complex<T>& b) { \
    return {a.real() - b.real(), a.imag() - b.imag()};                                                       \
  }                                                                                                          \
  __host__ __device__ inline std::complex<T> operator*(const std::complex<T>& a, const std::complex<T>& b) { \
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};           \
  }                                                                                                          \
  __host__ __device__ inline std::complex<T> operator+(const std::complex<T>& a, T b) {                      \
    return {a.real() + b, a.imag()};                                                                         \
  }                                                                                                          \
  __host__ __device__ inline std::complex<T> operator+(T a, const std::complex<T>& b) { return b + a; }      \
  __host__ __device__ inline std::complex<T> operator-(const std::complex<T>& a, T b) {                      \
    return {a.real() - b, a.imag()};                                                                         \
  }                                                                                                          \
  __host__ __device__ inline std::complex<T> operator-(T a, const std::complex<T>& b) {                      \
    return {a - b.real(), -b.imag()};                                                                        \
  }                                                                                                          \
  __host__ __device__ inline std::complex<T> operator*(const std::complex<T>& a, T b) {                      \
    return {a.real() * b, a.imag() * b};                                                                     \
  }                                                                                                          \
  __host__ __device__ inline std::complex<T> operator*(T a, const std::complex<T>& b) { return b * a; }      \
  __host__ __device__ inline std::complex<T> operator/(const std::complex<T>& a, T b) {                      \
    return {a.real() / b, a.imag() / b};                                                                     \
  }                                                                                                          \
  /* Divided by the larger part, so that no square overflows. */                                             \
  __host__ __device__ inline std::complex<T> operator/(const std::complex<T>& a, const std::complex<T>& b) { \
    const T c = b.real();                                                                                    \
    const T d = b.imag();                                                                                    \
    if (::fabs(c) >= ::fabs(d)) {                                                                            \
      const T ratio = d / c;                                                                                 \
      const T scale = c + d * ratio;                                                                         \
      return {(a.real() + a.imag() * ratio) / scale, (a.imag() - a.real() * ratio) / scale};                 \
    }                                                                                                        \
    const T ratio = c / d;                                                                                   \
    const T scale = c * ratio + d;                                                                           \
    return {(a.real() * ratio + a.imag()) / scale, (a.imag() * ratio - a.real()) / scale};                   \
  }
BOXCAR_COMPLEX_OPERATORS(float)
BOXCAR_COMPLEX_OPERATORS(double)
#undef BOXCAR_COMPLEX_OPERATORS

}  // namespace boxcar::functors
