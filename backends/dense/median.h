#pragma once

#include <boxcar/backends/dense/device_function.h>
#include <boxcar/ivalue/tensor.h>

#include <cstddef>
#include <string_view>

namespace boxcar::dense {

// Writes the middle element, the lower of two, of each line of [self] along dimension [dim], and its index, to tensors
// that have one element in that dimension and are contiguous. NaN, the first one, wins where there is one, or is left
// out if [skips_nan]. All have elements and dimensions.
using MedianLines = void(std::string_view name, const Tensor& values, const Tensor& indices, const Tensor& self,
                         size_t dim, bool skips_nan);
extern DeviceFunction<MedianLines> medianLines;

}  // namespace boxcar::dense
