#pragma once

#include <boxcar/backends/functors/arithmetic.h>
#include <boxcar/backends/functors/host_device.h>

#include <cstdint>
#include <limits>
#include <type_traits>

// Windows over images: the input rows and columns of each output position of a pool.

namespace boxcar::functors {

// The part of a window along one dimension that is inside the input, [begin, end) in steps, and the window's extent
// including the padding.
struct WindowRange {
  int64_t begin;
  int64_t end;
  int64_t extent;
};

// The [out] windows along a dimension of [in] elements: sliding windows of one length, or adaptive ones, which divide
// the input.
struct WindowAxis {
  int64_t in;
  int64_t out;
  bool adaptive = false;
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t padding = 0;
  int64_t dilation = 1;

  BOXCAR_HOST_DEVICE WindowRange at(int64_t o) const {
    if (adaptive) {
      const int64_t begin = o * in / out;
      const int64_t end = ((o + 1) * in + out - 1) / out;
      return {begin, end, end - begin};
    }
    const int64_t start = o * stride - padding;
    const int64_t end = start + (kernel - 1) * dilation + 1;
    const int64_t skipped = start < 0 ? (-start + dilation - 1) / dilation * dilation : 0;
    return {start + skipped, least(end, in), least(end, in + padding) - start};
  }

 private:
  BOXCAR_HOST_DEVICE static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
};

// The divisor of a window's sum: a given number, or the number of elements, with or without padding. There is at least
// one, as padding is at most half the window.
struct WindowDivisor {
  int64_t given = 0;  // 0 when there is none
  bool counts_padding = true;

  BOXCAR_HOST_DEVICE int64_t of(const WindowRange& row, const WindowRange& column) const {
    if (given != 0) return given;
    if (counts_padding) return row.extent * column.extent;
    return (row.end - row.begin) * (column.end - column.begin);
  }
};

// A value below all elements, for windows whose dilated steps meet only padding.
template <class C>
BOXCAR_HOST_DEVICE constexpr C lowestElement() {
  if constexpr (std::is_floating_point_v<C>) {
    return -std::numeric_limits<C>::infinity();
  } else {
    return std::numeric_limits<C>::lowest();
  }
}

// Whether [element] replaces [greatest], which precedes it: of equal elements the first counts, of several NaN the
// last.
template <class C>
BOXCAR_HOST_DEVICE bool isGreater(C element, C greatest) {
  return element > greatest || isNan(element);
}

}  // namespace boxcar::functors
