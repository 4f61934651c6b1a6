#pragma once

#include <boxcar/backends/native/device_stub.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>

namespace boxcar::native {

enum class Triangle : uint8_t { kLower, kUpper };

// Writes the elements of the matrices of [self] on one side of [diagonal], and zeros on the other side, to [out], which
// may be [self].
using WriteTriangle = void(const Tensor& out, const Tensor& self, int64_t diagonal, Triangle triangle);
extern DeviceStub<WriteTriangle> writeTriangle;

}  // namespace boxcar::native
