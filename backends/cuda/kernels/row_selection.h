#pragma once

#include <boxcar/backends/cuda/kernels/atomics.h>
#include <boxcar/backends/cuda/kernels/launch.h>
#include <boxcar/backends/cuda/kernels/sort_network.h>
#include <boxcar/backends/functors/ordered_key.h>

#include <cstdint>

// Finds which elements of a row come first in order, without sorting it (radix select). Goes through the digits of the
// keys, then of the indices, and counts the elements that have each digit.

namespace boxcar::cuda {

inline constexpr int kSelectionThreads = 512;

// Shared memory of the selection.
struct SelectionRoom {
  static constexpr int kDigits = 256;
  unsigned counts[2 * kDigits];
  unsigned digit;
  unsigned before;
  unsigned inside;
  unsigned found;
};
static_assert(sizeof(SelectionRoom) % 16 == 0);

// A row of fewer than 2^31 elements, which the threads of a block process together.
template <class T>
struct RowSelection {
  using Entry = NetworkEntry<T>;

  const T* row;
  int64_t length;
  bool descending;

  // Includes the entries up to this one: smaller keys, and equal keys with an index up to this one.
  struct Bound {
    uint64_t key;
    uint64_t index;
    BOXCAR_HOST_DEVICE bool includes(uint64_t other, int64_t at) const {
      return other < key || (other == key && static_cast<uint64_t>(at) <= index);
    }
  };

  BOXCAR_HOST_DEVICE uint64_t keyAt(int64_t i) const { return functors::denseKey(row[i], descending); }
  BOXCAR_HOST_DEVICE Entry entryAt(int64_t i) const {
    return networkEntry<T>(row[i], static_cast<uint32_t>(i), descending);
  }

  // Calls body(i) for the elements of [thread].
  template <class Body>
  BOXCAR_HOST_DEVICE void forEach(int thread, const Body& body) const {
    for (int64_t i = thread; i < length; i += kSelectionThreads) body(i);
  }

  // Returns the bound of the first [wanted] elements; [wanted] is at least 1.
  BOXCAR_HOST_DEVICE Bound firsts(const Block& block, SelectionRoom* room, unsigned wanted) const {
    constexpr int kKeyDigits = (functors::kKeyBits<T> + 7) / 8;
    int index_digits = 1;
    while (length - 1 >> (8 * index_digits) != 0) ++index_digits;
    Bound bound{0, 0};
    for (int digit = kKeyDigits + index_digits; digit-- > 0;) {
      const bool of_key = digit >= index_digits;
      const int shift = 8 * (of_key ? digit - index_digits : digit);
      count(block, room, bound, of_key, shift);
      find(block, room, wanted);
      // All threads read the same value, and none writes there before the next barrier.
      const uint64_t found = uint64_t{room->digit} << shift;
      const bool whole = wanted - room->before == room->inside;
      wanted -= room->before;
      const uint64_t below = whole ? (uint64_t{1} << shift) - 1 : 0;
      (of_key ? bound.key : bound.index) |= found | below;
      if (!whole) continue;
      if (of_key) bound.index = ~uint64_t{0};
      break;
    }
    return bound;
  }

 private:
  // Counts the digits at [shift], of the keys or indices, among the elements whose higher digits match the bound.
  BOXCAR_HOST_DEVICE void count(const Block& block, SelectionRoom* room, const Bound& bound, bool of_key,
                                int shift) const {
    block.each([&](int thread) {
      if (thread < SelectionRoom::kDigits) room->counts[thread] = 0;
    });
    block.each([&](int thread) {
      forEach(thread, [&](int64_t i) {
        const uint64_t key = keyAt(i);
        const uint64_t number = of_key ? key : static_cast<uint64_t>(i);
        const uint64_t known = of_key ? bound.key : bound.index;
        if ((of_key || key == bound.key) && number >> shift >> 8 == known >> shift >> 8) {
          atomicSum(&room->counts[number >> shift & 255], 1U);
        }
      });
    });
  }

  // Finds the digit of element number [wanted], counted from 1.
  BOXCAR_HOST_DEVICE void find(const Block& block, SelectionRoom* room, unsigned wanted) const {
    unsigned* from = room->counts;
    unsigned* to = room->counts + SelectionRoom::kDigits;
    for (int step = 1; step < SelectionRoom::kDigits; step *= 2) {
      block.each([&](int thread) {
        if (thread < SelectionRoom::kDigits) to[thread] = from[thread] + (thread >= step ? from[thread - step] : 0);
      });
      unsigned* const other = from;
      from = to;
      to = other;
    }
    block.each([&](int thread) {
      if (thread >= SelectionRoom::kDigits) return;
      const unsigned before = thread == 0 ? 0 : from[thread - 1];
      if (before >= wanted || from[thread] < wanted) return;
      room->digit = static_cast<unsigned>(thread);
      room->before = before;
      room->inside = from[thread] - before;
    });
  }
};

}  // namespace boxcar::cuda
