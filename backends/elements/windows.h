#pragma once

#include <boxcar/backends/elements/arithmetic.h>
#include <boxcar/backends/elements/host_device.h>

#include <cstdint>
#include <limits>
#include <type_traits>

// Windows over pictures: which rows and columns of the input each place of a pool's result takes.

namespace boxcar::elements {

// The part of a window along one dimension that lies in the input: [begin, end) in steps, and how long it is with the
// padding.
struct WindowRange {
  int64_t begin;
  int64_t end;
  int64_t extent;
};

// The windows along one dimension of [in] elements, [out] of them: sliding ones of one length, or adaptive ones, which
// divide the input.
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

// What the sum of a window is divided by: a number that was given, or how many elements it has, with or without those
// of the padding. It has some: padding is at most half as long as a window.
struct WindowDivisor {
  int64_t given = 0;  // 0 when there is none
  bool counts_padding = true;

  BOXCAR_HOST_DEVICE int64_t of(const WindowRange& row, const WindowRange& column) const {
    if (given != 0) return given;
    if (counts_padding) return row.extent * column.extent;
    return (row.end - row.begin) * (column.end - column.begin);
  }
};

// What is below all elements: a window that meets only padding between its steps has none.
template <class C>
BOXCAR_HOST_DEVICE constexpr C lowestElement() {
  if constexpr (std::is_floating_point_v<C>) {
    return -std::numeric_limits<C>::infinity();
  } else {
    return std::numeric_limits<C>::lowest();
  }
}

// Whether [element] takes the place of the greatest before it: of several equal ones the first counts, of several NaN
// the last.
template <class C>
BOXCAR_HOST_DEVICE bool isGreater(C element, C greatest) {
  return element > greatest || isNan(element);
}

}  // namespace boxcar::elements
