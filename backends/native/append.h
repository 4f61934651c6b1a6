#pragma once

#include <boxcar/ivalue/tensor.h>

#include <cstdint>

namespace boxcar::native {

// Returns cat([self, other], dim) on the CPU if one of them may be used up for it, else the undefined tensor. Where
// nothing but [self] refers to its memory, and there is room behind it, [other] alone is copied; where there is none,
// the result has room, and both are copied. The caller must own both references and drop them.
Tensor appended(const Tensor& self, const Tensor& other, int64_t dim);

}  // namespace boxcar::native
