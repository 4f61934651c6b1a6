#pragma once

#include <boxcar/backends/meta/dims.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace boxcar::meta {

// Returns the sizes of [self] resampled to the spatial sizes [output_size]; [self] is [N, C, spatial dimensions…] with
// as many spatial dimensions as [output_size] has numbers. Throws Error if it has another number of dimensions, if a
// size except the batch is not positive, or if a number exceeds kMostSpatialArgument.
DimVector upsampledSizes(std::string_view op, const Tensor& self, std::span<const int64_t> output_size);

// Returns the spatial sizes that the caller gave directly or as factors of those of [self]. Throws Error unless exactly
// one of both is given.
DimVector chosenOutputSize(std::string_view op, const Tensor& self, std::optional<std::span<const int64_t>> output_size,
                           std::optional<std::span<const double>> scale_factors, size_t rank);

}  // namespace boxcar::meta
