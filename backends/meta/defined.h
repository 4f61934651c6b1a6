#pragma once

#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/tensor.h>

namespace boxcar::meta {

// Throws Error if [tensor] is undefined. For operators that return or describe a tensor without reading its elements;
// the others find out when they read.
inline void checkDefined(const Tensor& tensor) {
  BOXCAR_CHECK(tensor.defined(), "expected a tensor, but it is undefined");
}

}  // namespace boxcar::meta
