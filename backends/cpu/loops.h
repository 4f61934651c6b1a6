#pragma once

#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/strided_loop.h>
#include <boxcar/backends/elements/element.h>

#include <cstddef>
#include <cstdint>

namespace boxcar::cpu {

namespace detail {

template <class T>
inline T& at(char* address) {
  return *reinterpret_cast<T*>(address);
}

// One row of a loop: run(p, s, n, f) writes [n] results of [f] to elements of Out at p[0], read from elements of In at
// p[1] and on, with steps s. Rows whose operands follow each other, or stay in place, have loops of their own that the
// compiler vectorises. Operands may be one and the same memory, but never overlap otherwise, which the pragma tells.
template <class Out, class... In>
struct Row;

template <class Out>
struct Row<Out> {
  template <class F>
  static void run(char* const* p, const int64_t* s, int64_t n, const F& f) {
    if (s[0] == sizeof(Out)) {
      Out* out = &at<Out>(p[0]);
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) out[i] = f();
      return;
    }
    for (int64_t i = 0; i < n; ++i) at<Out>(p[0] + i * s[0]) = f();
  }
};

template <class Out, class A>
struct Row<Out, A> {
  template <class F>
  static void run(char* const* p, const int64_t* s, int64_t n, const F& f) {
    if (s[0] == sizeof(Out) && s[1] == sizeof(A)) {
      Out* out = &at<Out>(p[0]);
      const A* a = &at<A>(p[1]);
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) out[i] = f(a[i]);
      return;
    }
    for (int64_t i = 0; i < n; ++i) at<Out>(p[0] + i * s[0]) = f(at<A>(p[1] + i * s[1]));
  }
};

template <class Out, class A, class B>
struct Row<Out, A, B> {
  template <class F>
  static void run(char* const* p, const int64_t* s, int64_t n, const F& f) {
    if (s[0] == sizeof(Out)) {
      Out* out = &at<Out>(p[0]);
      const A* a = &at<A>(p[1]);
      const B* b = &at<B>(p[2]);
      if (s[1] == sizeof(A) && s[2] == sizeof(B)) {
#pragma GCC ivdep
        for (int64_t i = 0; i < n; ++i) out[i] = f(a[i], b[i]);
        return;
      }
      if (s[1] == sizeof(A) && s[2] == 0) {
        const B y = *b;
#pragma GCC ivdep
        for (int64_t i = 0; i < n; ++i) out[i] = f(a[i], y);
        return;
      }
      if (s[1] == 0 && s[2] == sizeof(B)) {
        const A x = *a;
#pragma GCC ivdep
        for (int64_t i = 0; i < n; ++i) out[i] = f(x, b[i]);
        return;
      }
    }
    for (int64_t i = 0; i < n; ++i) {
      at<Out>(p[0] + i * s[0]) = f(at<A>(p[1] + i * s[1]), at<B>(p[2] + i * s[2]));
    }
  }
};

template <class Out, class A, class B, class C>
struct Row<Out, A, B, C> {
  template <class F>
  static void run(char* const* p, const int64_t* s, int64_t n, const F& f) {
    if (s[0] == sizeof(Out) && s[1] == sizeof(A) && s[2] == sizeof(B) && s[3] == sizeof(C)) {
      Out* out = &at<Out>(p[0]);
      const A* a = &at<A>(p[1]);
      const B* b = &at<B>(p[2]);
      const C* c = &at<C>(p[3]);
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) out[i] = f(a[i], b[i], c[i]);
      return;
    }
    // One of the last two, or both, may be a number.
    if (s[0] == sizeof(Out) && s[1] == sizeof(A)) {
      Out* out = &at<Out>(p[0]);
      const A* a = &at<A>(p[1]);
      const B y = at<B>(p[2]);
      const C z = at<C>(p[3]);
      if (s[2] == 0 && s[3] == 0) {
#pragma GCC ivdep
        for (int64_t i = 0; i < n; ++i) out[i] = f(a[i], y, z);
        return;
      }
      if (s[2] == 0 && s[3] == sizeof(C)) {
        const C* c = &at<C>(p[3]);
#pragma GCC ivdep
        for (int64_t i = 0; i < n; ++i) out[i] = f(a[i], y, c[i]);
        return;
      }
      if (s[2] == sizeof(B) && s[3] == 0) {
        const B* b = &at<B>(p[2]);
#pragma GCC ivdep
        for (int64_t i = 0; i < n; ++i) out[i] = f(a[i], b[i], z);
        return;
      }
    }
    for (int64_t i = 0; i < n; ++i) {
      at<Out>(p[0] + i * s[0]) = f(at<A>(p[1] + i * s[1]), at<B>(p[2] + i * s[2]), at<C>(p[3] + i * s[3]));
    }
  }
};

}  // namespace detail

// The body of a Loop: results of [f] as elements of Out, from inputs with elements of In.
template <class Out, class... In, class F>
inline void elementwise(char* const* data, const int64_t* steps, int64_t n0, int64_t n1, const F& f) {
  constexpr size_t kOperands = 1 + sizeof...(In);
  static_assert(kOperands <= kMaxOperands);
  char* p[kOperands];
  for (size_t k = 0; k < kOperands; ++k) p[k] = data[k];
  for (int64_t j = 0; j < n1; ++j) {
    detail::Row<Out, In...>::run(p, steps, n0, f);
    for (size_t k = 0; k < kOperands; ++k) p[k] += steps[kMaxOperands + k];
  }
}

}  // namespace boxcar::cpu
