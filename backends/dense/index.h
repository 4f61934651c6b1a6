#pragma once

#include <boxcar/backends/dense/device_function.h>
#include <boxcar/ivalue/tensor.h>

#include <cstddef>
#include <cstdint>

namespace boxcar::dense {

// A dimension that indices stand for: they are below [size], or count from its end, and each leads [step] bytes on.
struct IndexedDimension {
  size_t dim;
  int64_t size;
  int64_t step;
};

// Adds to [offsets], int64 and contiguous, what [index], which broadcasts to it, amounts to. An Error when an index is
// out of range.
using AddOffsets = void(const Tensor& offsets, const Tensor& index, const IndexedDimension& dimension);
extern DeviceFunction<AddOffsets> addOffsets;

}  // namespace boxcar::dense
