#pragma once

#include <boxcar/backends/meta/dims.h>
#include <boxcar/ivalue/tensor.h>

#include <cstddef>
#include <cstdint>

namespace boxcar::meta {

// The result of `cat`: its sizes, the dimension it joins along, the promoted type of the tensors, and its strides,
// which are channels-last if all tensors are.
struct Joined {
  DimVector sizes;
  size_t dim;
  ScalarType dtype;
  DimVector strides;
};

// Throws Error, naming the tensor, if its sizes do not match those of the first one.
Joined joinAlong(TensorList tensors, int64_t dim);

// An empty one-dimensional tensor joins with anything and is skipped.
inline bool isLegacyEmpty(const Tensor& tensor) { return tensor.dim() == 1 && tensor.numel() == 0; }

}  // namespace boxcar::meta
