#pragma once

#include <boxcar/dispatcher/operator_handle.h>

namespace boxcar::detail {

// Throws the Error of a call that was dispatched on [keys] and found no kernel: which argument brought which key, where
// the operator has kernels, and the nearest remedy, in the words of scripts where a script calls or defined it.
[[noreturn]] void failMissingKernel(const OperatorHandle& op, DispatchKeySet keys, const Stack& stack);
// The same at Meta, which tensors without data bring.
[[noreturn]] void failMissingMetaKernel(const OperatorHandle& op);

}  // namespace boxcar::detail
