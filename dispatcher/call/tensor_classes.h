#pragma once

#include <boxcar/dispatcher/registry/operator_handle.h>
#include <boxcar/ivalue/macros.h>

namespace boxcar {

// Serves the calls that tensors with the key Python bring there, after the thread's modes: a language binding finds the
// classes of the tensors in it. [below]: the keys below Python, for the redispatch of calls that it leaves alone.
using TensorClassesHook = void (*)(const OperatorHandle& op, DispatchKeySet below, Stack& stack);

// Sets the hook, for the process; null removes it. Without one, a call that a tensor brings to Python and no mode
// answers is an Error.
BOXCAR_API void setTensorClassesHook(TensorClassesHook hook) noexcept;

}  // namespace boxcar
