// What the vector functions of one file share, compiled once for every kind of vector, as Highway requires.
// No #pragma once: Highway includes it once for every kind of vector.
#if defined(BOXCAR_HIGHWAY_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BOXCAR_HIGHWAY_ROWS_INL_H_
#undef BOXCAR_HIGHWAY_ROWS_INL_H_
#else
#define BOXCAR_HIGHWAY_ROWS_INL_H_
#endif

#include <boxcar/backends/cpu/highway/dispatch.h>
#include <boxcar/ivalue/scalar.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace boxcar::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// A function object whose vector code handles only some numbers: covers(d, x) tells which ones, and outside(x) computes
// the others one by one.
template <class F, class D, class V>
concept CoversPart = requires(const F f, D d, V x) {
  f.covers(d, x);
};

// Writes f(d, x) for the vector x to [out].
template <class D, class F, class T>
HWY_INLINE void mapVector(D d, const F& f, hn::Vec<D> x, T* out) {
  hn::StoreU(f(d, x), d, out);
  if constexpr (CoversPart<F, D, hn::Vec<D>>) {
    const auto covered = f.covers(d, x);
    if (HWY_UNLIKELY(!hn::AllTrue(d, covered))) {
      HWY_ALIGN T inputs[hn::MaxLanes(d)];
      HWY_ALIGN T is_covered[hn::MaxLanes(d)];
      hn::Store(x, d, inputs);
      hn::Store(hn::IfThenElse(covered, hn::Set(d, T(1)), hn::Zero(d)), d, is_covered);
      for (size_t i = 0; i < hn::Lanes(d); ++i) {
        if (is_covered[i] == 0) out[i] = F::outside(inputs[i]);
      }
    }
  }
}

// Writes f(d, x) to [out] for vectors x of the [n] elements at [in]. Processes two vectors at a time. The remainder is
// computed in a buffer by the same loop, because the code of [f] is long.
template <class T, class F>
HWY_INLINE void mapRow(const T* in, T* out, size_t n, const F& f) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  const size_t left = n % (2 * lanes);
  HWY_ALIGN T rest[2 * hn::MaxLanes(d)];
  const T* from = in;
  T* to = out;
  size_t end = n - left;
  for (bool in_rest = false;; in_rest = true) {
    for (size_t i = 0; i < end; i += 2 * lanes) {
      const auto first = hn::LoadU(d, from + i);
      const auto second = hn::LoadU(d, from + i + lanes);
      mapVector(d, f, first, to + i);
      mapVector(d, f, second, to + i + lanes);
    }
    if (left == 0) return;
    if (in_rest) break;
    std::fill_n(rest, 2 * lanes, T(0));
    std::copy_n(in + (n - left), left, rest);
    from = rest;
    to = rest;
    end = 2 * lanes;
  }
  std::copy_n(rest, left, out + (n - left));
}

// Writes f(d, x, y) for pairs of elements at [a] and [b]; an operand that does not move is used for all pairs.
template <class T, class F>
HWY_INLINE void mapPairs(const T* a, size_t a_moves, const T* b, size_t b_moves, T* out, size_t n, const F& f) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  if (a_moves != 0 && b_moves != 0) {
    for (; i + 2 * lanes <= n; i += 2 * lanes) {
      const auto first = f(d, hn::LoadU(d, a + i), hn::LoadU(d, b + i));
      const auto second = f(d, hn::LoadU(d, a + i + lanes), hn::LoadU(d, b + i + lanes));
      hn::StoreU(first, d, out + i);
      hn::StoreU(second, d, out + i + lanes);
    }
  } else if (a_moves != 0) {
    const auto y = hn::Set(d, *b);
    for (; i + lanes <= n; i += lanes) hn::StoreU(f(d, hn::LoadU(d, a + i), y), d, out + i);
  } else if (b_moves != 0) {
    const auto x = hn::Set(d, *a);
    for (; i + lanes <= n; i += lanes) hn::StoreU(f(d, x, hn::LoadU(d, b + i)), d, out + i);
  }
  const hn::CappedTag<T, 1> one;
  for (; i < n; ++i) {
    hn::StoreU(f(one, hn::LoadU(one, a + i * a_moves), hn::LoadU(one, b + i * b_moves)), one, out + i);
  }
}

// The same for an [f] whose code is long, so that it is there once.
template <class T, class F>
HWY_INLINE void mapPairsByLongCode(const T* a, size_t a_moves, const T* b, size_t b_moves, T* out, size_t n,
                                   const F& f) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  const size_t left = n % lanes;
  HWY_ALIGN T rest[3][hn::MaxLanes(d)];
  const T* const operands[] = {a, b};
  const size_t moves[] = {a_moves, b_moves};
  for (size_t k = 0; k < 2; ++k) {
    std::fill_n(rest[k], lanes, *operands[k]);
    if (moves[k] != 0) std::copy_n(operands[k] + (n - left), left, rest[k]);
  }
  // An operand that does not move is already in the buffer.
  const size_t a_step = a_moves * lanes;
  const size_t b_step = b_moves * lanes;
  const T* x = a_moves != 0 ? a : rest[0];
  const T* y = b_moves != 0 ? b : rest[1];
  T* to = out;
  for (size_t i = 0; i < n; i += lanes) {
    if (i + lanes > n) {
      x = rest[0];
      y = rest[1];
      to = rest[2];
    }
    hn::StoreU(f(d, hn::LoadU(d, x), hn::LoadU(d, y)), d, to);
    x += a_step;
    y += b_step;
    to += lanes;
  }
  std::copy_n(rest[2], left, out + (n - left));
}

template <class T>
constexpr T kInfinity = std::numeric_limits<T>::infinity();
template <class T>
constexpr T kNan = std::numeric_limits<T>::quiet_NaN();
template <class T>
constexpr bool kIsFloat = sizeof(T) == 4;

// Returns first + x * (second + x * (…)).
template <class D, class T>
HWY_INLINE hn::Vec<D> polynomial(D d, hn::Vec<D>, T first) {
  return hn::Set(d, first);
}
template <class D, class T, class... Ts>
HWY_INLINE hn::Vec<D> polynomial(D d, hn::Vec<D> x, T first, Ts... others) {
  return hn::MulAdd(polynomial(d, x, others...), x, hn::Set(d, first));
}

}  // namespace boxcar::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

// Defines the rows FunctionFloat and FunctionDouble of the function object [Function]; use it within HWY_NAMESPACE.
#ifndef BOXCAR_VECTOR_UNARY_ROWS
#define BOXCAR_VECTOR_UNARY_ROWS(Function)                                                         \
  void Function##Float(const float* in, float* out, size_t n, const ::boxcar::Scalar* params) {    \
    mapRow(in, out, n, Function<float>(params));                                                   \
  }                                                                                                \
  void Function##Double(const double* in, double* out, size_t n, const ::boxcar::Scalar* params) { \
    mapRow(in, out, n, Function<double>(params));                                                  \
  }
#define BOXCAR_VECTOR_BINARY_ROWS(Function)                                                                      \
  void Function##Float(const float* a, size_t a_moves, const float* b, size_t b_moves, float* out, size_t n,     \
                       const ::boxcar::Scalar*) {                                                                \
    mapPairs(a, a_moves, b, b_moves, out, n, Function());                                                        \
  }                                                                                                              \
  void Function##Double(const double* a, size_t a_moves, const double* b, size_t b_moves, double* out, size_t n, \
                        const ::boxcar::Scalar*) {                                                               \
    mapPairs(a, a_moves, b, b_moves, out, n, Function());                                                        \
  }
// The same for a function object with long code, which takes the parameters.
#define BOXCAR_VECTOR_LONG_BINARY_ROWS(Function)                                                                 \
  void Function##Float(const float* a, size_t a_moves, const float* b, size_t b_moves, float* out, size_t n,     \
                       const ::boxcar::Scalar* params) {                                                         \
    mapPairsByLongCode(a, a_moves, b, b_moves, out, n, Function<float>(params));                                 \
  }                                                                                                              \
  void Function##Double(const double* a, size_t a_moves, const double* b, size_t b_moves, double* out, size_t n, \
                        const ::boxcar::Scalar* params) {                                                        \
    mapPairsByLongCode(a, a_moves, b, b_moves, out, n, Function<double>(params));                                \
  }
// Defines the two functions that select these rows by CPU; use it outside HWY_NAMESPACE.
#define BOXCAR_VECTOR_UNARY_DISPATCH(Function)                                        \
  BOXCAR_VECTOR_EXPORT(Function##Float);                                              \
  BOXCAR_VECTOR_EXPORT(Function##Double);                                             \
  void run##Function(const float* in, float* out, size_t n, const Scalar* params) {   \
    BOXCAR_VECTOR_CALL(Function##Float)(in, out, n, params);                          \
  }                                                                                   \
  void run##Function(const double* in, double* out, size_t n, const Scalar* params) { \
    BOXCAR_VECTOR_CALL(Function##Double)(in, out, n, params);                         \
  }
#define BOXCAR_VECTOR_BINARY_DISPATCH(Function)                                                               \
  BOXCAR_VECTOR_EXPORT(Function##Float);                                                                      \
  BOXCAR_VECTOR_EXPORT(Function##Double);                                                                     \
  void run##Function(const float* a, size_t a_moves, const float* b, size_t b_moves, float* out, size_t n,    \
                     const Scalar* params) {                                                                  \
    BOXCAR_VECTOR_CALL(Function##Float)(a, a_moves, b, b_moves, out, n, params);                              \
  }                                                                                                           \
  void run##Function(const double* a, size_t a_moves, const double* b, size_t b_moves, double* out, size_t n, \
                     const Scalar* params) {                                                                  \
    BOXCAR_VECTOR_CALL(Function##Double)(a, a_moves, b, b_moves, out, n, params);                             \
  }
#endif

#endif
