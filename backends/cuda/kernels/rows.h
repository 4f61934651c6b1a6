#pragma once

#include <boxcar/backends/cuda/kernels/pack.h>
#include <boxcar/backends/functors/host_device.h>

#include <cstddef>
#include <cstdint>

// Contiguous rows that the threads of a block read or write together.

namespace boxcar::cuda {

inline constexpr int kRowThreads = 256;
// Longer rows are read again instead of kept in shared memory.
inline constexpr size_t kKeptBytes = 40 * 1024;

// Calls body(i, x) for the elements of [row] that belong to [thread], in packs of 16 bytes if the row is aligned to
// them.
template <class T, class Body>
BOXCAR_HOST_DEVICE void forRow(const T* row, int64_t n, int thread, const Body& body) {
  constexpr int kPack = sizeof(T) >= 16 ? 1 : static_cast<int>(16 / sizeof(T));
  if (reinterpret_cast<uintptr_t>(row) % 16 == 0) {
    const int64_t whole = n / kPack * kPack;
    for (int64_t i = int64_t{thread} * kPack; i < whole; i += int64_t{kRowThreads} * kPack) {
      const auto pack = *reinterpret_cast<const Pack<T, kPack>*>(row + i);
      for (int k = 0; k < kPack; ++k) body(i + k, pack.elements[k]);
    }
    for (int64_t i = whole + thread; i < n; i += kRowThreads) body(i, row[i]);
    return;
  }
  for (int64_t i = thread; i < n; i += kRowThreads) body(i, row[i]);
}

// Writes value(i) to the elements of [row] that belong to [thread].
template <class T, class Value>
BOXCAR_HOST_DEVICE void writeRow(T* row, int64_t n, int thread, const Value& value) {
  constexpr int kPack = sizeof(T) >= 16 ? 1 : static_cast<int>(16 / sizeof(T));
  if (reinterpret_cast<uintptr_t>(row) % 16 == 0) {
    const int64_t whole = n / kPack * kPack;
    for (int64_t i = int64_t{thread} * kPack; i < whole; i += int64_t{kRowThreads} * kPack) {
      Pack<T, kPack> pack;
      for (int k = 0; k < kPack; ++k) pack.elements[k] = value(i + k);
      *reinterpret_cast<Pack<T, kPack>*>(row + i) = pack;
    }
    for (int64_t i = whole + thread; i < n; i += kRowThreads) row[i] = value(i);
    return;
  }
  for (int64_t i = thread; i < n; i += kRowThreads) row[i] = value(i);
}

}  // namespace boxcar::cuda
