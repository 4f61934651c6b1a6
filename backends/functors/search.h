#pragma once

#include <boxcar/backends/functors/host_device.h>

#include <cstdint>

namespace boxcar::functors {

// Returns how many of [count] boundaries, at(i) in ascending order, precede [value]; boundaries equal to it count if
// [right]. NaN is greater than all others.
template <class C, class At>
BOXCAR_HOST_DEVICE inline int64_t placeAmong(C value, int64_t count, bool right, const At& at) {
  int64_t first = 0;
  while (count > 0) {
    const int64_t half = count / 2;
    const int64_t middle = first + half;
    const C boundary = at(middle);
    const bool before = right ? !(boundary > value) : !(boundary >= value);
    first = before ? middle + 1 : first;
    count = before ? count - half - 1 : half;
  }
  return first;
}

}  // namespace boxcar::functors
