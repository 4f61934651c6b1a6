#pragma once

#include <boxcar/ivalue/macros.h>

namespace boxcar {

// The trace: a line on stderr for every call and redispatch on every thread, indented by nesting depth:
//
//   [call] op=[aten::linear], key=[CPU]
//    [call] op=[aten::addmm], key=[CPU]
//
// Boxed ones are marked [callBoxed] and [redispatchBoxed]. The key is that of the kernel that runs. What a
// functionality level does to the call follows, where it is known (level_text.h):
//
//   [call] op=[aten::mm], key=[AutocastCPU]: casts self and mat2 from float32 to bfloat16
//
// The trace is off unless the environment variable BOXCAR_SHOW_DISPATCH_TRACE (or TORCH_SHOW_DISPATCH_TRACE) has a
// value other than 0 when the Dispatcher is first used.
BOXCAR_API bool dispatchTraceIsEnabled() noexcept;
BOXCAR_API void setDispatchTraceEnabled(bool enabled) noexcept;

namespace detail {

// Switches the trace on if the environment asks for it.
void readDispatchTraceEnvironment() noexcept;

}  // namespace detail
}  // namespace boxcar
