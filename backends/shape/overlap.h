#pragma once

#include <boxcar/ivalue/tensor.h>

#include <cstdint>
#include <span>

namespace boxcar::shape {

// Where the elements of a tensor lie, or will lie once it has other sizes.
struct Region {
  const StorageImpl* storage;
  std::span<const int64_t> sizes;
  std::span<const int64_t> strides;  // in elements, none of them negative
  int64_t offset;                    // the same
  int64_t itemsize;
};
Region regionOf(const Tensor& tensor);

enum class Shared {
  kNothing,
  kSame,  // the same elements in the same order
  kSome,
};

// What two regions have in common. Views with gaps are looked at element by element, or by what all their strides
// divide by; kSome where that would take too long.
Shared sharedMemory(const Region& one, const Region& other);

}  // namespace boxcar::shape
