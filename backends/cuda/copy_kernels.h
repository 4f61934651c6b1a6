#pragma once

#include <boxcar/backends/cuda/strided_layout.h>
#include <boxcar/ivalue/scalar_type.h>

namespace boxcar::cuda {

// Writes elements of [from] at [source] as elements of [to] to [target]; operand 0 of [layout] is the target.
void copyStrided(char* target, ScalarType to, const char* source, ScalarType from, const StridedLayout& layout);

}  // namespace boxcar::cuda
