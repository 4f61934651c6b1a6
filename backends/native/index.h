#pragma once

#include <boxcar/backends/native/device_stub.h>
#include <boxcar/ivalue/tensor.h>

#include <cstddef>
#include <cstdint>

namespace boxcar::native {

// An indexed dimension: indices are below [size], or count from its end, and one index step is [step] bytes.
struct IndexedDimension {
  size_t dim;
  int64_t size;
  int64_t step;
};

// Adds the byte offsets of [index], broadcast, to [offsets], which is int64 and contiguous. Throws Error if an index is
// out of range.
using AddOffsets = void(const Tensor& offsets, const Tensor& index, const IndexedDimension& dimension);
extern DeviceStub<AddOffsets> addOffsets;

}  // namespace boxcar::native
