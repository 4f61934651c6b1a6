#pragma once

#include <boxcar/backends/native/device_stub.h>
#include <boxcar/backends/native/lines.h>
#include <boxcar/ivalue/tensor.h>

namespace boxcar::native {

// Writes the softmax, or its logarithm, of the lines of [self] to [out]. Both are contiguous and have elements; [out]
// has the type of [self], or float32 if [self] is float16.
using SoftmaxFunction = void(const Tensor& out, const Tensor& self, const Lines& lines, bool logarithm);
extern DeviceStub<SoftmaxFunction> softmaxLines;

}  // namespace boxcar::native
