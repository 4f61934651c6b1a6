#pragma once

#include <boxcar/ivalue/tensor.h>

#include <cstdint>
#include <span>

namespace boxcar::meta {

// The memory of a tensor's elements, now or after a resize.
struct Region {
  const StorageImpl* storage;
  std::span<const int64_t> sizes;
  std::span<const int64_t> strides;  // in elements, not negative
  int64_t offset;                    // in elements, not negative
  int64_t itemsize;
};
Region regionOf(const Tensor& tensor);

enum class Shared {
  kNothing,
  kSame,  // the same elements in the same order
  kSome,
};

// Returns what two regions share. For views with gaps, it searches the distances between elements, and prunes by the
// common divisor of the strides. Returns kSome if the search would take too long.
Shared sharedMemory(const Region& one, const Region& other);

}  // namespace boxcar::meta
