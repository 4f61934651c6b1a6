#pragma once

#include <boxcar/backends/native/device_stub.h>
#include <boxcar/ivalue/tensor.h>

#include <cstddef>

namespace boxcar::native {

enum class FftKind {
  kForward,        // complex to complex
  kInverse,        // complex to complex, without a factor
  kRealToComplex,  // forward; writes as much of each line as [out] has: half and one, or all
  kComplexToReal,  // inverse; reads half and one of each line
};

// Writes [scale] times the Fourier transforms of the lines of [self] along [dim] to [out], which may be [self].
using TransformLines = void(const Tensor& out, const Tensor& self, size_t dim, FftKind kind, double scale);
extern DeviceStub<TransformLines> transformLines;

}  // namespace boxcar::native
