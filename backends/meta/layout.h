#pragma once

#include <boxcar/backends/meta/dims.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>
#include <span>

namespace boxcar::meta {

// Returns the strides of a dense result of [sizes] whose dimensions have the same order in memory as those of [like],
// which are tensors of these sizes or sizes that broadcast to them. For each pair of dimensions, the first tensor whose
// strides differ decides.
DimVector stridesLike(std::span<const int64_t> sizes, std::span<const Tensor* const> like);

// The sizes and strides of a tensor that need not exist.
struct Strided {
  std::span<const int64_t> sizes;
  std::span<const int64_t> strides;
};
// As above, for tensors of which only these are known.
DimVector stridesLike(std::span<const int64_t> sizes, std::span<const Strided> like);

// Returns the strides of a copy of [tensor]: its own if it is dense without overlaps, else those of stridesLike.
DimVector denseStrides(const Tensor& tensor);

// Whether the elements have no gaps and no overlap, whatever the order of the dimensions.
bool isDense(std::span<const int64_t> sizes, std::span<const int64_t> strides);

// Allocates an uninitialised tensor of [sizes] and [strides], which must be dense.
Tensor allocateStrided(std::span<const int64_t> sizes, std::span<const int64_t> strides, ScalarType dtype,
                       Device device);

}  // namespace boxcar::meta
