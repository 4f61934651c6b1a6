#pragma once

#include <boxcar/backends/meta/dims.h>

#include <cstdint>
#include <optional>
#include <span>

namespace boxcar::meta {

// Returns [wanted] with -1, if present, replaced by the size inferred from [numel]. Throws Error if there is more than
// one -1 or the sizes do not have [numel] elements.
DimVector inferSizes(std::span<const int64_t> wanted, int64_t numel);

// Returns the strides that show a tensor of [sizes] and [strides] as [wanted], which has as many elements, without a
// copy; nothing if a copy is needed.
std::optional<DimVector> viewStrides(std::span<const int64_t> sizes, std::span<const int64_t> strides,
                                     std::span<const int64_t> wanted);

// The start of a slice of a dimension of [size] and its number of indices. Negative bounds count from the end, and
// bounds are clamped to [0, size]. Throws Error if [step] is not positive.
struct Slice {
  int64_t start;
  int64_t count;
};
Slice resolveSlice(int64_t size, std::optional<int64_t> start, std::optional<int64_t> end, int64_t step);

// Throws Error if [rank] is above 64: reductions and similar operators represent dimensions as bits.
void checkMaskable(int64_t rank);
// Returns the bit of dimension [dim] (negative counts from the end) of a tensor of [rank] dimensions. Throws Error if
// it has no such dimension or more than 64 dimensions.
uint64_t dimensionBit(int64_t dim, int64_t rank);
// Returns the dimensions of a tensor of [rank] dimensions that [dims] lists, one bit each; all if [dims] is empty.
// Throws Error if one is out of range or listed twice.
uint64_t dimensionMask(std::span<const int64_t> dims, int64_t rank);

}  // namespace boxcar::meta
