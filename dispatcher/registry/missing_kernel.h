#pragma once

#include <boxcar/dispatcher/registry/operator_handle.h>

namespace boxcar::detail {

// Throws the Error for a call that was dispatched on [keys] and found no kernel. It says which argument brought which
// key, where the operator has kernels, and the nearest remedy, in script terms if a script makes the call or defined
// the operator.
[[noreturn]] void failMissingKernel(const OperatorHandle& op, DispatchKeySet keys, const Stack& stack);
// As above, for Meta, the key of tensors without data.
[[noreturn]] void failMissingMetaKernel(const OperatorHandle& op);

}  // namespace boxcar::detail
