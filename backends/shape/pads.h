#pragma once

#include <boxcar/backends/shape/dims.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>
#include <span>
#include <string_view>

namespace boxcar::shape {

// The sizes that [self] has with [pad]: pairs of elements before and after, the last dimension first. Negative ones
// take elements off. An Error when there are more pairs than dimensions, or more is taken off than there is.
DimVector paddedSizes(const Tensor& self, std::span<const int64_t> pad);

// The same for [name], which pads the last [dims] dimensions with elements of [self] that lie up to [reach] less than
// its size away: an Error for other padding, for a tensor without those dimensions and one or two before them, and for
// one that has no elements to pad with.
DimVector mirroredSizes(std::string_view name, const Tensor& self, std::span<const int64_t> pad, size_t dims,
                        bool reflects);

}  // namespace boxcar::shape
