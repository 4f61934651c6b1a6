#pragma once

#include <boxcar/ivalue/list.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>
#include <optional>

namespace boxcar::cpu {

// The elements of [self] whose place along dimension [dim] is what [index], int64 of as many dimensions and no larger
// sizes, says.
Tensor gatherElements(const Tensor& self, int64_t dim, const Tensor& index);

// The indices of the elements that are not zero, in order: int64 of sizes [count, dimensions].
Tensor nonzeroIndices(const Tensor& self);

}  // namespace boxcar::cpu
