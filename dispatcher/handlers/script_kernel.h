#pragma once

#include <boxcar/dispatcher/registry/operator_handle.h>
#include <boxcar/ivalue/macros.h>

namespace boxcar {

// Whether the kernel that computes a call of [op] with [keys] is a script's: the body of its `op` or of an `impl`.
// Handlers that record what ran descend into such kernels and record the calls in them. Fallbacks and fallthroughs are
// passed over. Takes the registration lock.
BOXCAR_API bool runsScriptKernel(const OperatorHandle& op, DispatchKeySet keys);

}  // namespace boxcar
