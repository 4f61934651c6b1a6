#pragma once

#include <boxcar/backends/shape/dims.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

// What operators on signals, pictures and volumes share: [N, C, spatial dimensions…].

namespace boxcar::shape {

// No argument of an operator on spatial dimensions may be greater: what is computed with them fits 64 bits.
inline constexpr int64_t kMostSpatialArgument = (int64_t{1} << 31) - 1;

// The numbers of argument [name] of [op] for [rank] spatial dimensions: as many as there are, or one for all. An Error
// when there is another number of them, or one is less than [least] or greater than kMostSpatialArgument.
DimVector spatialArgument(std::string_view op, std::string_view name, std::span<const int64_t> values, size_t rank,
                          int64_t least);

// (kernel - 1) * dilation + 1: how far a window reaches. An Error when it is more than 62 bits can count.
int64_t windowReach(std::string_view op, int64_t kernel, int64_t dilation);

// Whether results made of [tensor] are to lie in memory channels last: it has four dimensions, and those that have
// more than one element lie so. PyTorch calls it the suggested memory format.
bool suggestsChannelsLast(const Tensor& tensor);

// A tensor of [sizes], [N, C, H, W] when its elements are to lie channels last.
Tensor allocateSpatial(std::span<const int64_t> sizes, bool channels_last, ScalarType dtype, Device device);

// A signal, [N, C, L], seen as pictures of one row: [N, C, 1, L].
Tensor asPictures(const Tensor& signals);

// "[2, 3]"
std::string listOf(std::span<const int64_t> values);

}  // namespace boxcar::shape
