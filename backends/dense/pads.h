#pragma once

#include <boxcar/backends/dense/device_function.h>
#include <boxcar/backends/elements/pads.h>
#include <boxcar/ivalue/tensor.h>

#include <span>

namespace boxcar::dense {

// Writes [self], with its last dimensions padded according to [axes], the outermost first, to [out]. Both are
// contiguous, of one type, and have elements.
using PadFunction = void(const Tensor& out, const Tensor& self, std::span<const elements::PaddedAxis> axes);
extern DeviceFunction<PadFunction> padWithOwn;

}  // namespace boxcar::dense
