#pragma once

#include <boxcar/backends/functors/element.h>

#include <complex>
#include <cstdint>
#include <vector>

// Plain functions of little use are compiled once, for complex128; the elements of other matrices are converted. They
// are compiled for size.

namespace boxcar::cpu::plain {

using Wide = std::complex<double>;

template <class T>
[[gnu::noinline, gnu::cold]] std::vector<Wide> widened(const T* elements, int64_t count) {
  return std::vector<Wide>(elements, elements + count);
}

template <class T>
[[gnu::noinline, gnu::cold]] void narrowTo(T* elements, const std::vector<Wide>& wide) {
  for (const Wide& element : wide) {
    if constexpr (functors::kIsComplex<T>) {
      *elements++ = T(element);
    } else {
      *elements++ = static_cast<T>(element.real());
    }
  }
}

}  // namespace boxcar::cpu::plain
