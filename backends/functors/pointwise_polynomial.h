#pragma once

#include <boxcar/backends/functors/functions.h>
#include <boxcar/backends/functors/host_device.h>
#include <boxcar/ivalue/scalar.h>
#include <boxcar/ivalue/stop_request.h>

#include <cstdint>
#include <limits>
#include <type_traits>

// The element function of family "polynomial" in pointwise_table.h.

namespace boxcar::functors {

// X(kind, name): the orthogonal polynomials; the four kinds of Chebyshev polynomials come first, then their shifted
// ones.
#define BOXCAR_POLYNOMIALS(X)                            \
  X(ChebyshevT, "chebyshev_polynomial_t")                \
  X(ChebyshevU, "chebyshev_polynomial_u")                \
  X(ChebyshevV, "chebyshev_polynomial_v")                \
  X(ChebyshevW, "chebyshev_polynomial_w")                \
  X(ShiftedChebyshevT, "shifted_chebyshev_polynomial_t") \
  X(ShiftedChebyshevU, "shifted_chebyshev_polynomial_u") \
  X(ShiftedChebyshevV, "shifted_chebyshev_polynomial_v") \
  X(ShiftedChebyshevW, "shifted_chebyshev_polynomial_w") \
  X(HermiteH, "hermite_polynomial_h")                    \
  X(HermiteHe, "hermite_polynomial_he")                  \
  X(LaguerreL, "laguerre_polynomial_l")                  \
  X(LegendreP, "legendre_polynomial_p")

#define BOXCAR_POLYNOMIAL_KIND(kind, name) k##kind,
enum class PolynomialKind : uint8_t { BOXCAR_POLYNOMIALS(BOXCAR_POLYNOMIAL_KIND) };
#undef BOXCAR_POLYNOMIAL_KIND

// The polynomial whose kind is the parameter, of degree n at x, mostly by its recurrence. Results are those of PyTorch,
// which computes in T, too.
template <class T>
struct Polynomial {
  explicit Polynomial(const Scalar* params) : kind(static_cast<PolynomialKind>(params->toLong())) {}

  BOXCAR_HOST_DEVICE T operator()(T x, T degree) const {
    // As for PyTorch, a NaN or infinite degree is negative.
    if (!(degree > -1 && degree < T(9.2e18))) return 0;
    const int64_t n = static_cast<int64_t>(degree);
    if (kind <= PolynomialKind::kChebyshevW) return chebyshev(kind, x, n);
    if (kind <= PolynomialKind::kShiftedChebyshevW) {
      return chebyshev(static_cast<PolynomialKind>(static_cast<int>(kind) - 4), x + x - 1, n);
    }
    if (kind == PolynomialKind::kLaguerreL) return laguerre(x, n);
    if (kind == PolynomialKind::kLegendreP) return legendre(x, n);
    return hermite(x, n, kind == PolynomialKind::kHermiteH ? 2 : 1);
  }

  PolynomialKind kind;

 private:
  static constexpr T kNaN = std::numeric_limits<T>::quiet_NaN();
  // Nothing of the result is left after so many steps; more would only keep a thread busy.
  static constexpr int64_t kMostSteps = int64_t{1} << 20;

  BOXCAR_HOST_DEVICE static T chebyshev(PolynomialKind of_kind, T x, int64_t n) {
    const T m = static_cast<T>(n);
    const bool is_t = of_kind == PolynomialKind::kChebyshevT;
    const bool is_u = of_kind == PolynomialKind::kChebyshevU;
    const bool is_v = of_kind == PolynomialKind::kChebyshevV;
    if (abs(x) == 1) {
      const T sign = x > 0 || n % 2 == 0 ? 1 : -1;
      if (is_t) return sign;
      if (is_u) return sign * (m + 1);
      return (x > 0) == is_v ? sign : sign * (m + m + 1);
    }
    if (n > (is_t ? 6 : 8) && abs(x) < 1) {
      const T angle = acos(x);
      if (is_t) return cos(m * angle);
      if (is_u) return sin((m + 1) * angle) / sin(angle);
      const T middle = (m + T(0.5)) * angle;
      return is_v ? cos(middle) / cos(angle / 2) : sin(middle) / sin(angle / 2);
    }
    const T twice = x + x;
    const T first = is_t ? x : is_u ? twice : is_v ? twice - 1 : twice + 1;
    return recur(1, first, n, [twice](T before, T last, int64_t) { return twice * last - before; });
  }

  BOXCAR_HOST_DEVICE static T laguerre(T x, int64_t n) {
    if (x == 0) return 1;
    return recur(1, 1 - x, n, [x](T before, T last, int64_t k) {
      return ((static_cast<T>(k + k) + (1 - x)) * last - static_cast<T>(k) * before) / static_cast<T>(k + 1);
    });
  }

  BOXCAR_HOST_DEVICE static T legendre(T x, int64_t n) {
    if (abs(x) == 1) return x > 0 || n % 2 == 0 ? 1 : -1;
    return recur(1, x, n, [x](T before, T last, int64_t k) {
      return (static_cast<T>(k + k + 1) * x * last - static_cast<T>(k) * before) / static_cast<T>(k + 1);
    });
  }

  // Of the physicists if [scale] is 2, of the probabilists if it is 1.
  BOXCAR_HOST_DEVICE static T hermite(T x, int64_t n, int scale) {
    // PyTorch's limits: the recurrence overflows.
    if (n > (std::is_same_v<T, float> ? 128 : 512)) return kNaN;
    const T factor = static_cast<T>(scale) * x;
    return recur(1, factor, n, [factor, scale](T before, T last, int64_t k) {
      return factor * last - static_cast<T>(scale * k) * before;
    });
  }

  // Returns the polynomial of degree [n], given those of degree 0, [p], and 1, [q].
  template <class Next>
  BOXCAR_HOST_DEVICE static T recur(T p, T q, int64_t n, Next next) {
    if (n == 0) return p;
    if (n > kMostSteps) return kNaN;
#ifndef __CUDA_ARCH__
    if (n > 4096) checkStop();
#endif
    for (int64_t k = 1; k < n && !isnan(q); ++k) {
      const T r = next(p, q, k);
      p = q;
      q = r;
    }
    return q;
  }
};

}  // namespace boxcar::functors
