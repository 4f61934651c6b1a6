#pragma once

#include <boxcar/backends/functors/pads.h>
#include <boxcar/backends/native/device_stub.h>
#include <boxcar/ivalue/tensor.h>

#include <span>

namespace boxcar::native {

// Writes [self], with its last dimensions padded according to [axes], the outermost first, to [out]. Both are
// contiguous, of one type, and have elements.
using PadFunction = void(const Tensor& out, const Tensor& self, std::span<const functors::PaddedAxis> axes);
extern DeviceStub<PadFunction> padWithOwn;

}  // namespace boxcar::native
