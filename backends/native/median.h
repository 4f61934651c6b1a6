#pragma once

#include <boxcar/backends/native/device_stub.h>
#include <boxcar/ivalue/tensor.h>

#include <cstddef>
#include <string_view>

namespace boxcar::native {

// Writes the median of each line of [self] along dimension [dim] (the lower of two middle elements), and its index, to
// contiguous tensors whose size in that dimension is 1. NaN, the first one, is the median if there is one, or is
// skipped if [skips_nan]. All tensors have elements and dimensions.
using MedianLines = void(std::string_view name, const Tensor& values, const Tensor& indices, const Tensor& self,
                         size_t dim, bool skips_nan);
extern DeviceStub<MedianLines> medianLines;

}  // namespace boxcar::native
