#pragma once

#include <boxcar/backends/functors/element.h>
#include <boxcar/backends/functors/host_device.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace boxcar::cuda {

// Atomically computes target = f(target, value). For complex128, f must be addition, because each part is updated by an
// atomic addition of its own; products of complex128 are not supported.
template <class T, class F>
BOXCAR_HOST_DEVICE void atomicCombine(T* target, T value, const F& f) {
#ifdef __CUDA_ARCH__
  if constexpr (sizeof(T) == 16) {
    // In halves: the sum of complex numbers is the sum of their parts.
    using Part = functors::RealOf<T>;
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
    // The four-byte word that contains the target.
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

// Atomically computes target += value, for types with a hardware atomic addition.
template <class T>
BOXCAR_HOST_DEVICE void atomicSum(T* target, T value) {
#ifdef __CUDA_ARCH__
  atomicAdd(target, value);
#else
  *target += value;
#endif
}

// Atomically increments [counter] and returns its previous value.
BOXCAR_HOST_DEVICE inline unsigned atomicNext(unsigned* counter) {
#ifdef __CUDA_ARCH__
  return atomicAdd(counter, 1U);
#else
  return (*counter)++;
#endif
}

}  // namespace boxcar::cuda
