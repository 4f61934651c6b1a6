#pragma once

#include <boxcar/backends/shape/dims.h>
#include <boxcar/ivalue/tensor.h>

#include <cstddef>
#include <cstdint>

namespace boxcar::shape {

// What `cat` makes: its sizes, the dimension it joins along, the type that the tensors promote to, and its strides:
// those of channels_last when all the tensors have that.
struct Joined {
  DimVector sizes;
  size_t dim;
  ScalarType dtype;
  DimVector strides;
};

// An Error names the tensor whose sizes do not fit the first one's.
Joined joinAlong(TensorList tensors, int64_t dim);

// A one-dimensional tensor of no elements joins with anything, and is left out.
inline bool isLegacyEmpty(const Tensor& tensor) { return tensor.dim() == 1 && tensor.numel() == 0; }

}  // namespace boxcar::shape
