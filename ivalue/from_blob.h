#pragma once

#include <boxcar/ivalue/array_ref.h>
#include <boxcar/ivalue/device.h>
#include <boxcar/ivalue/macros.h>
#include <boxcar/ivalue/scalar_type.h>
#include <boxcar/ivalue/tensor.h>

#include <functional>

namespace boxcar {

// The dtype and device of a tensor over foreign memory.
struct BlobOptions {
  ScalarType dtype = ScalarType::Float;
  Device device = DeviceType::CPU;
};

// Returns a tensor over the elements at [data], without a copy: both sides see each other's writes. The memory must
// outlive the tensor and its views. With [deleter], the tensors own it: [deleter] is called with [data], once, on
// whichever thread releases the last of them; it is not called after an Error. Without [strides] the elements lie
// without gaps.
//
//   std::vector<double> numbers = {1, 2, 3, 4};
//   const Tensor matrix = from_blob(numbers.data(), {2, 2}, {.dtype = ScalarType::Double});
//
// Throws Error if sizes or strides are negative, differ in number or span more than 63 bits can count, if there are
// elements but no memory, or if [data] is not aligned for the dtype.
BOXCAR_API Tensor from_blob(void* data, IntArrayRef sizes, const BlobOptions& options = {});
BOXCAR_API Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, const BlobOptions& options = {});
BOXCAR_API Tensor from_blob(void* data, IntArrayRef sizes, const std::function<void(void*)>& deleter,
                            const BlobOptions& options = {});
BOXCAR_API Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides,
                            const std::function<void(void*)>& deleter, const BlobOptions& options = {});

}  // namespace boxcar
