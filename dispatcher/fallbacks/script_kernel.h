#pragma once

#include <boxcar/dispatcher/operator_handle.h>
#include <boxcar/ivalue/macros.h>

namespace boxcar {

// Whether what a call of [op] with [keys] computes by is a script's: the body of its `op` or an `impl`. Handlers that
// write down what ran go through those to the calls in them. Fallbacks and fallthroughs are passed over. Takes the
// registration lock.
BOXCAR_API bool runsScriptKernel(const OperatorHandle& op, DispatchKeySet keys);

}  // namespace boxcar
