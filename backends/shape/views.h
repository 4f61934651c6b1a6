#pragma once

#include <boxcar/backends/shape/dims.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace boxcar::shape {

// [wanted] with -1, if it stands there once, replaced by what [numel] elements leave for it. An Error when the sizes
// are not those of [numel] elements.
DimVector inferSizes(std::span<const int64_t> wanted, int64_t numel);

// The strides with which elements of [sizes] and [strides] are seen as [wanted] sizes, of as many elements, without
// moving; nothing when they would have to move.
std::optional<DimVector> viewStrides(std::span<const int64_t> sizes, std::span<const int64_t> strides,
                                     std::span<const int64_t> wanted);

// Where a slice of a dimension of [size] starts and how many indices it takes. Bounds count from the end when they are
// negative, and stop at the ends. An Error when [step] is not positive.
struct Slice {
  int64_t start;
  int64_t count;
};
Slice resolveSlice(int64_t size, std::optional<int64_t> start, std::optional<int64_t> end, int64_t step);

// An Error when the operator [name] is to give more tensors, [count], than a list can hold.
void checkPartCount(std::string_view name, int64_t count);

// An Error when [rank] is above 64: reductions and their like tell dimensions by bits.
void checkMaskable(int64_t rank);
// The bit of dimension [dim], negative ones counting from the last, of a tensor of [rank] dimensions. An Error where it
// has no such dimension or more than 64.
uint64_t dimensionBit(int64_t dim, int64_t rank);
// The dimensions of a tensor of [rank] that [dims] names, one bit each; all when there are none. An Error when one is
// out of range or named twice.
uint64_t dimensionMask(std::span<const int64_t> dims, int64_t rank);

}  // namespace boxcar::shape
