#pragma once

#include <boxcar/ivalue/list.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>
#include <optional>

namespace boxcar::cpu {

// The indices of the elements that are not zero, in order: int64 of sizes [count, dimensions].
Tensor nonzeroIndices(const Tensor& self);

}  // namespace boxcar::cpu
