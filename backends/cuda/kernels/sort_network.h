#pragma once

#include <boxcar/backends/cuda/kernels/launch.h>
#include <boxcar/backends/functors/host_device.h>
#include <boxcar/backends/functors/ordered_key.h>

#include <cstdint>
#include <type_traits>

// Sorting in shared memory. An entry is an element's key with its index in the low bits. So all entries differ, and any
// sort of them is stable. K. E. Batcher, "Sorting networks and their applications", 1968.

namespace boxcar::cuda {

struct ShortEntry {
  uint64_t bits;

  BOXCAR_HOST_DEVICE static ShortEntry make(uint32_t key, uint32_t index) { return {uint64_t{key} << 32 | index}; }
  BOXCAR_HOST_DEVICE static ShortEntry least() { return {0}; }
  BOXCAR_HOST_DEVICE static ShortEntry greatest() { return {~uint64_t{0}}; }
  BOXCAR_HOST_DEVICE uint32_t index() const { return static_cast<uint32_t>(bits); }
  BOXCAR_HOST_DEVICE bool before(const ShortEntry& other) const { return bits < other.bits; }
};

struct LongEntry {
  uint64_t key;
  uint64_t at;

  BOXCAR_HOST_DEVICE static LongEntry make(uint64_t key, uint32_t index) { return {key, index}; }
  BOXCAR_HOST_DEVICE static LongEntry least() { return {0, 0}; }
  BOXCAR_HOST_DEVICE static LongEntry greatest() { return {~uint64_t{0}, ~uint64_t{0}}; }
  BOXCAR_HOST_DEVICE uint32_t index() const { return static_cast<uint32_t>(at); }
  BOXCAR_HOST_DEVICE bool before(const LongEntry& other) const {
    return key != other.key ? key < other.key : at < other.at;
  }
};

// The entry type for elements of T.
template <class T>
using NetworkEntry = std::conditional_t<sizeof(functors::OrderedKey<T>) == 4, ShortEntry, LongEntry>;

template <class T>
BOXCAR_HOST_DEVICE inline NetworkEntry<T> networkEntry(T x, uint32_t index, bool descending) {
  return NetworkEntry<T>::make(functors::denseKey(x, descending), index);
}

// Sorts each group of [width] among [count] entries in shared memory. Both are powers of 2.
template <int threads, class Entry>
BOXCAR_HOST_DEVICE void sortByNetwork(const Block& block, Entry* entries, int count, int width) {
  for (int size = 2; size <= width; size *= 2) {
    for (int step = size / 2; step > 0; step /= 2) {
      block.each([&](int thread) {
        for (int pair = thread; pair < count / 2; pair += threads) {
          const int low = (pair & ~(step - 1)) * 2 + (pair & (step - 1));
          const int high = low + step;
          const bool falls = (low & (width - 1) & size) != 0;
          const Entry a = entries[low];
          const Entry b = entries[high];
          if (b.before(a) != falls) {
            entries[low] = b;
            entries[high] = a;
          }
        }
      });
    }
  }
}

}  // namespace boxcar::cuda
