#pragma once

#include <boxcar/backends/native/copy.h>
#include <boxcar/ivalue/tensor.h>
#include <boxcar/ops.h>

#include <optional>

// Conversions of element types that several operators need.

namespace boxcar::composite {

// Returns [tensor] with elements of [dtype] if it is given.
inline Tensor converted(const Tensor& tensor, std::optional<ScalarType> dtype) {
  return dtype.has_value() && *dtype != tensor.scalar_type() ? boxcar::to(tensor, *dtype) : tensor;
}

// Returns [tensor], as float32 if its elements are float16 or bfloat16.
inline Tensor widened(const Tensor& tensor) {
  return native::isSmallFloat(tensor) ? boxcar::to(tensor, ScalarType::Float) : tensor;
}

}  // namespace boxcar::composite
