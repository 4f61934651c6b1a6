#pragma once

#include <boxcar/ivalue/tensor.h>

#include <cstdint>

namespace boxcar::native {

// Returns the elements of [self] at the positions along dimension [dim] that [index] gives; [index] is int64 with as
// many dimensions and no larger sizes.
Tensor gatherElements(const Tensor& self, int64_t dim, const Tensor& index);

}  // namespace boxcar::native
