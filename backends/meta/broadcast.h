#pragma once

#include <boxcar/backends/meta/dims.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>
#include <span>

namespace boxcar::meta {

// Returns the broadcast of sizes [a] and [b], aligned at the last dimension; a size of 1 stretches. Throws Error, with
// both sizes and the dimension, if they do not match.
DimVector broadcast(std::span<const int64_t> a, std::span<const int64_t> b);

// Makes [sizes] the broadcast of itself and [other]. False if they do not match; [sizes] are then of no use.
bool tryBroadcast(DimVector& sizes, std::span<const int64_t> other);
// Whether [sizes] broadcast to [to].
bool isExpandable(std::span<const int64_t> sizes, std::span<const int64_t> to);

// Returns the strides of a tensor of [sizes] and [strides] expanded to [target]; the stride is 0 where it is repeated.
// -1 in [target] keeps the existing size; the actual size is written back to [target]. Throws Error if the tensor
// cannot be expanded that way.
DimVector expandStrides(std::span<const int64_t> sizes, std::span<const int64_t> strides, DimVector& target);

// Returns a view of [tensor] expanded to [sizes].
Tensor expandTo(const Tensor& tensor, std::span<const int64_t> sizes);

}  // namespace boxcar::meta
