#pragma once

#include <boxcar/backends/shape/dims.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace boxcar::shape {

// The sizes that [self], [N, C, spatial dimensions…] of as many dimensions as [output_size] has numbers, is brought to.
// An Error when it has others, or a size of the input or the result is not positive.
DimVector upsampledSizes(std::string_view op, const Tensor& self, std::span<const int64_t> output_size);

// The spatial sizes that a caller gave as they are, or as factors of those of [self]: exactly one of both.
DimVector chosenOutputSize(std::string_view op, const Tensor& self, std::optional<std::span<const int64_t>> output_size,
                           std::optional<std::span<const double>> scale_factors, size_t rank);

}  // namespace boxcar::shape
