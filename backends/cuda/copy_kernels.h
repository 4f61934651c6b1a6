#pragma once

#include <boxcar/backends/cuda/strided_layout.h>
#include <boxcar/ivalue/scalar_type.h>

namespace boxcar::cuda {

// Converts the elements at [source] from [from] to [to] and writes them to [target]; operand 0 of [layout] is the
// target.
void copyStrided(char* target, ScalarType to, const char* source, ScalarType from, const StridedLayout& layout);

}  // namespace boxcar::cuda
