#pragma once

#include <boxcar/backends/shape/dims.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>
#include <span>

namespace boxcar::shape {

// The strides of a dense result of [sizes] whose dimensions lie in memory in the order that those of [like] do:
// tensors of the same sizes or sizes that broadcast to them. The first whose strides tell two dimensions apart decides.
DimVector stridesLike(std::span<const int64_t> sizes, std::span<const Tensor* const> like);

// Strides of a copy of [tensor]: its own when it is dense without overlaps, else those of stridesLike.
DimVector denseStrides(const Tensor& tensor);

// Elements that lie without gaps and without overlap, whatever the order of the dimensions.
bool isDense(std::span<const int64_t> sizes, std::span<const int64_t> strides);

// A tensor of [sizes] and [strides] (dense) with memory that is not initialised.
Tensor allocateStrided(std::span<const int64_t> sizes, std::span<const int64_t> strides, ScalarType dtype,
                       Device device);

}  // namespace boxcar::shape
