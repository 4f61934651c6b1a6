#pragma once

#include <boxcar/ivalue/array_ref.h>
#include <boxcar/ivalue/device.h>
#include <boxcar/ivalue/macros.h>
#include <boxcar/ivalue/scalar_type.h>
#include <boxcar/ivalue/tensor.h>

#include <functional>

namespace boxcar {

// What a tensor over memory of somebody else's is like.
struct BlobOptions {
  ScalarType dtype = ScalarType::Float;
  Device device = DeviceType::CPU;
};

// A tensor over the elements at [data], which are not copied: both sides see what either writes. The memory has to
// outlive the tensor and its views; with [deleter], it is theirs until that is called with [data], once, on whichever
// thread lets go of the last of them. Nobody calls it after an Error. Without [strides] the elements lie without gaps.
//
//   std::vector<double> numbers = {1, 2, 3, 4};
//   const Tensor matrix = from_blob(numbers.data(), {2, 2}, {.dtype = ScalarType::Double});
//
// An Error where sizes or strides are negative, not as many as each other or reach more than 63 bits count, where
// there are elements but no memory, and where [data] is not aligned for the dtype.
BOXCAR_API Tensor from_blob(void* data, IntArrayRef sizes, const BlobOptions& options = {});
BOXCAR_API Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, const BlobOptions& options = {});
BOXCAR_API Tensor from_blob(void* data, IntArrayRef sizes, const std::function<void(void*)>& deleter,
                            const BlobOptions& options = {});
BOXCAR_API Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides,
                            const std::function<void(void*)>& deleter, const BlobOptions& options = {});

}  // namespace boxcar
