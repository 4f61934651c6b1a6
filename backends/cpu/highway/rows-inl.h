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
#define BOXCAR_VECTOR_BINARY_ROWS(Function)                                                                        \
  void Function##Float(const float* a, size_t a_moves, const float* b, size_t b_moves, float* out, size_t n) {     \
    mapPairs(a, a_moves, b, b_moves, out, n, Function());                                                          \
  }                                                                                                                \
  void Function##Double(const double* a, size_t a_moves, const double* b, size_t b_moves, double* out, size_t n) { \
    mapPairs(a, a_moves, b, b_moves, out, n, Function());                                                          \
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
#define BOXCAR_VECTOR_BINARY_DISPATCH(Function)                                                                 \
  BOXCAR_VECTOR_EXPORT(Function##Float);                                                                        \
  BOXCAR_VECTOR_EXPORT(Function##Double);                                                                       \
  void run##Function(const float* a, size_t a_moves, const float* b, size_t b_moves, float* out, size_t n) {    \
    BOXCAR_VECTOR_CALL(Function##Float)(a, a_moves, b, b_moves, out, n);                                        \
  }                                                                                                             \
  void run##Function(const double* a, size_t a_moves, const double* b, size_t b_moves, double* out, size_t n) { \
    BOXCAR_VECTOR_CALL(Function##Double)(a, a_moves, b, b_moves, out, n);                                       \
  }
#endif

#endif
