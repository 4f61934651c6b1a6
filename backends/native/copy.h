#pragma once

#include <boxcar/backends/native/device_stub.h>
#include <boxcar/ivalue/scalar.h>
#include <boxcar/ivalue/tensor.h>

namespace boxcar::native {

// Writes the elements of [source], broadcast and converted, to [target], on the same device or, if one of both is on
// the CPU, on another. They must not overlap. Does nothing on Meta.
void copyElements(const Tensor& target, const Tensor& source, bool non_blocking = false);

// If there are two devices, the one that is not the CPU copies. If [non_blocking], it does not wait for the copy where
// that is safe.
using CopyFunction = void(const Tensor& target, const Tensor& source, bool non_blocking);
extern DeviceStub<CopyFunction> copyOnDevice;

// Returns a copy of [tensor] with elements of [dtype] and the same order of dimensions in memory.
Tensor convertTo(const Tensor& tensor, ScalarType dtype);

// Returns [tensor] if it is contiguous, else a contiguous copy.
Tensor toContiguous(const Tensor& tensor);
// Returns [tensor] if it is contiguous and has elements of [dtype], else a contiguous copy with such elements.
Tensor toContiguous(const Tensor& tensor, ScalarType dtype);
// Returns a contiguous copy of [tensor] in any case.
Tensor contiguousCopy(const Tensor& tensor);

// Whether the elements are float16 or bfloat16, whose sums are computed in float32.
inline bool isSmallFloat(const Tensor& tensor) {
  return tensor.scalar_type() == ScalarType::Half || tensor.scalar_type() == ScalarType::BFloat16;
}

// Calls [body] with a copy of [self] in float32, and writes the copy back.
template <class Body>
void inFloat32(const Tensor& self, Body&& body) {
  const Tensor wide = convertTo(self, ScalarType::Float);
  body(wide);
  copyElements(self, wide);
}

// Writes [number] as one element of [type] to [address], converted like a tensor's element.
void storeNumber(void* address, ScalarType type, const Scalar& number);

// Throws Error if [number] does not fit into an element of [type].
void checkFits(const Scalar& number, ScalarType type);
// Returns a zero-dimensional CPU tensor that holds [number] as [type]. Throws Error if it does not fit.
Tensor numberTensor(const Scalar& number, ScalarType type);

// Returns [tensor], or a copy of it, on [device].
Tensor toDevice(const Tensor& tensor, Device device);

// Returns the only element of [tensor], which is not on Meta. A copy from a device waits for its work.
Scalar readNumber(const Tensor& tensor);
// Returns the element of [type] at [address], which is readable on the host.
Scalar loadNumber(const void* address, ScalarType type);

}  // namespace boxcar::native
