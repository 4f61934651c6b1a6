#pragma once

#include <boxcar/backends/native/device_stub.h>
#include <boxcar/ivalue/tensor.h>

#include <cstddef>

namespace boxcar::native {

// Writes the cross products of the lines along dimension [dim], of three elements each, of [a] and [b] to [out]. All
// have the same sizes, any strides and one real or complex type.
using CrossFunction = void(const Tensor& out, const Tensor& a, const Tensor& b, size_t dim);
extern DeviceStub<CrossFunction> crossLines;

}  // namespace boxcar::native
