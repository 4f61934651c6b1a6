#pragma once

#include <boxcar/ivalue/tensor.h>

#include <cstdint>

namespace boxcar::dense {

// The elements of [self] whose place along dimension [dim] is what [index], int64 of as many dimensions and no larger
// sizes, says.
Tensor gatherElements(const Tensor& self, int64_t dim, const Tensor& index);

}  // namespace boxcar::dense
