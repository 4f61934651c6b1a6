#pragma once

namespace boxcar::cuda {

// Elements that are loaded or stored as one unit: at most 16 bytes, aligned to its size.
template <class T, int count>
struct alignas(sizeof(T) * count) Pack {
  T elements[count];
};

}  // namespace boxcar::cuda
