#pragma once

#include <boxcar/backends/elements/element.h>
#include <boxcar/backends/elements/host_device.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace boxcar::cuda {

// target = f(target, value), as one step that no other thread comes between. Of complex numbers each part is one of its
// own, for which f must do them apart, as sums do; products of complex128 are not to be had.
template <class T, class F>
BOXCAR_HOST_DEVICE void atomicCombine(T* target, T value, const F& f) {
#ifdef __CUDA_ARCH__
  if constexpr (sizeof(T) == 16) {
    // By halves: a sum of complex numbers is the sums of their parts.
    using Part = elements::RealOf<T>;
    auto* const parts = reinterpret_cast<Part*>(target);
    atomicAdd(parts, value.real());
    atomicAdd(parts + 1, value.imag());
  } else if constexpr (sizeof(T) >= 4) {
    using Word = std::conditional_t<sizeof(T) == 4, unsigned, unsigned long long>;
    auto* const word = reinterpret_cast<Word*>(target);
    Word seen = *word;
    for (;;) {
      T before;
      memcpy(&before, &seen, sizeof(T));
      const T after = f(before, value);
      Word wanted;
      memcpy(&wanted, &after, sizeof(T));
      const Word found = atomicCAS(word, seen, wanted);
      if (found == seen) return;
      seen = found;
    }
  } else {
    // The word of four bytes that it lies in.
    const auto address = reinterpret_cast<uintptr_t>(target);
    auto* const word = reinterpret_cast<unsigned*>(address / 4 * 4);
    const unsigned shift = static_cast<unsigned>(address % 4) * 8;
    const unsigned mask = (sizeof(T) == 1 ? 0xffU : 0xffffU) << shift;
    unsigned seen = *word;
    for (;;) {
      const unsigned bits = (seen & mask) >> shift;
      T before;
      memcpy(&before, &bits, sizeof(T));
      const T after = f(before, value);
      unsigned wanted = 0;
      memcpy(&wanted, &after, sizeof(T));
      const unsigned found = atomicCAS(word, seen, (seen & ~mask) | (wanted << shift));
      if (found == seen) return;
      seen = found;
    }
  }
#else
  *target = f(*target, value);
#endif
}

// target += value in the same way, of types that a GPU adds by itself.
template <class T>
BOXCAR_HOST_DEVICE void atomicSum(T* target, T value) {
#ifdef __CUDA_ARCH__
  atomicAdd(target, value);
#else
  *target += value;
#endif
}

// What was in [counter], which is one more then.
BOXCAR_HOST_DEVICE inline unsigned atomicNext(unsigned* counter) {
#ifdef __CUDA_ARCH__
  return atomicAdd(counter, 1U);
#else
  return (*counter)++;
#endif
}

}  // namespace boxcar::cuda
