#pragma once

#include <boxcar/backends/meta/dims.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>
#include <span>
#include <string_view>

namespace boxcar::meta {

// Returns the sizes of [self] padded by [pad]: pairs of element counts before and after, the last dimension first.
// Negative counts remove elements. Throws Error if there are more pairs than dimensions, or if more elements are
// removed than exist.
DimVector paddedSizes(const Tensor& self, std::span<const int64_t> pad);

// Like paddedSizes for operator [name], which pads the last [dims] dimensions with elements of [self]. Throws Error for
// padding of another length, if [self] does not have these dimensions plus one or two before them, if a dimension
// except the batch is empty, or if a padded dimension of the result would be. If [reflects], each padding must be less
// than the size of its dimension.
DimVector mirroredSizes(std::string_view name, const Tensor& self, std::span<const int64_t> pad, size_t dims,
                        bool reflects);

}  // namespace boxcar::meta
