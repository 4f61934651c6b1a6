#pragma once

namespace boxcar::cuda {

// Elements that are read or written as one: 16 bytes at most, at a multiple of their size.
template <class T, int count>
struct alignas(sizeof(T) * count) Pack {
  T elements[count];
};

}  // namespace boxcar::cuda
