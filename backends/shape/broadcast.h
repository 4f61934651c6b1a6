#pragma once

#include <boxcar/backends/shape/dims.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>
#include <span>

namespace boxcar::shape {

// The sizes that operands of sizes [a] and [b] have together: aligned at the last dimension, a size of 1 stretches.
// An Error names both sizes and the dimension where they do not match.
DimVector broadcast(std::span<const int64_t> a, std::span<const int64_t> b);

// The strides of a tensor of [sizes] and [strides] seen as one of [target] sizes, 0 where it is repeated; -1 in
// [target] keeps a size. Writes the sizes back to [target]. An Error when the tensor cannot be expanded so.
DimVector expandStrides(std::span<const int64_t> sizes, std::span<const int64_t> strides, DimVector& target);

// A view of [tensor] that is expanded to [sizes].
Tensor expandTo(const Tensor& tensor, std::span<const int64_t> sizes);

}  // namespace boxcar::shape
