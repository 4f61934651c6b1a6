#pragma once

#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/tensor.h>

namespace boxcar::shape {

// For operators that give back or tell of a tensor without a look at its elements; those that look find out themselves.
inline void checkDefined(const Tensor& tensor) {
  BOXCAR_CHECK(tensor.defined(), "expected a tensor, but it is undefined");
}

}  // namespace boxcar::shape
