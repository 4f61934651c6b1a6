#pragma once

#include <boxcar/dispatcher/boxing/kernel_function.h>

namespace boxcar::detail {

// Returns [kernel], which is boxed, so that it counts its writes (Tensor::version()) to the arguments that the schema
// says it writes: once each, unless it called kernels that counted them. Kernels that are registered before their
// operator is defined are not wrapped.
KernelFunction countingWrites(KernelFunction kernel);

}  // namespace boxcar::detail
