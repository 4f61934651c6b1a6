#pragma once

#include <boxcar/dispatcher/registry/operator_handle.h>
#include <boxcar/ivalue/dispatch_key.h>
#include <boxcar/ivalue/macros.h>

#include <optional>
#include <string>

// What a CPU fallback (handlers/cpu_fallback) can serve. The error of a missing kernel suggests it only then.

namespace boxcar::detail {

// Returns whether [key] can have a CPU fallback: it is the key of the dense tensors of a device that is neither the CPU
// nor meta.
BOXCAR_API bool canFallBackToCpu(DispatchKey key) noexcept;
// Returns why no CPU fallback serves [op], "returns a view, …", or nullopt if one does.
BOXCAR_API std::optional<std::string> whyNotOnCpu(const OperatorHandle& op);

}  // namespace boxcar::detail
