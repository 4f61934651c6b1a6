#pragma once

#include <boxcar/backends/dense/device_function.h>
#include <boxcar/ivalue/scalar.h>
#include <boxcar/ivalue/tensor.h>

namespace boxcar::dense {

// Writes the elements of [source], broadcast and converted, into [target], on the same device or, with one of both on
// the CPU, on another. They must not overlap. On Meta there are none.
void copyElements(const Tensor& target, const Tensor& source, bool non_blocking = false);

// Of two devices the one that is not the CPU copies. Without waiting for the end where that is safe, when
// [non_blocking].
using CopyFunction = void(const Tensor& target, const Tensor& source, bool non_blocking);
extern DeviceFunction<CopyFunction> copyOnDevice;

// A copy of [tensor] with elements of [dtype], its dimensions in the same order in memory.
Tensor convertTo(const Tensor& tensor, ScalarType dtype);

// [tensor] itself when it is contiguous, else a copy that is.
Tensor toContiguous(const Tensor& tensor);
// A copy of [tensor] in any case, which is contiguous.
Tensor contiguousCopy(const Tensor& tensor);

// Elements of float16 and bfloat16, whose sums are computed in float32.
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

// Writes [number] as one element of [type] to [address], converted as a tensor's element would be.
void storeNumber(void* address, ScalarType type, const Scalar& number);

// An Error when [number] does not fit into an element of [type].
void checkFits(const Scalar& number, ScalarType type);
// A tensor without dimensions, on the CPU, that holds [number] as [type]. An Error when that does not fit.
Tensor numberTensor(const Scalar& number, ScalarType type);

// [tensor] itself, or a copy of it on [device].
Tensor toDevice(const Tensor& tensor, Device device);

// The one element of [tensor], which is not on Meta; a copy from a device waits for its work.
Scalar readNumber(const Tensor& tensor);
// The element of [type] at [address], which the host can read.
Scalar loadNumber(const void* address, ScalarType type);

}  // namespace boxcar::dense
