#pragma once

#include <boxcar/backends/meta/dims.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

// Shared by the operators on signals, images and volumes: [N, C, spatial dimensions…].

namespace boxcar::meta {

// The maximum for arguments of operators on spatial dimensions, so that computations with them fit in 64 bits.
inline constexpr int64_t kMostSpatialArgument = (int64_t{1} << 31) - 1;

// Returns argument [name] of [op] for [rank] spatial dimensions, given as one number each or one for all. Throws Error
// for another count, or if a number is less than [least] or greater than kMostSpatialArgument.
DimVector spatialArgument(std::string_view op, std::string_view name, std::span<const int64_t> values, size_t rank,
                          int64_t least);

// Returns the extent of a window, (kernel - 1) * dilation + 1. Throws Error if it is more than 62 bits can count.
int64_t windowReach(std::string_view op, int64_t kernel, int64_t dilation);

// Whether results computed from [tensor] should be channels-last: it has four dimensions, and those with more than one
// element are channels-last. This is PyTorch's suggested memory format.
bool suggestsChannelsLast(const Tensor& tensor);

// Allocates a tensor of [sizes], which are [N, C, H, W] if [channels_last].
Tensor allocateSpatial(std::span<const int64_t> sizes, bool channels_last, ScalarType dtype, Device device);

// Returns a view of a signal, [N, C, L], as images of one row: [N, C, 1, L].
Tensor asImages(const Tensor& signals);

// "[2, 3]"
std::string listOf(std::span<const int64_t> values);

}  // namespace boxcar::meta
