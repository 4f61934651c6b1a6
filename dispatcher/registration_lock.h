#pragma once

#include <boxcar/ivalue/macros.h>

#include <mutex>

namespace boxcar::detail {

// Taken for every change of what is registered and for every look at it that is more than a call. Recursive, because
// listeners and the blocks that are read in register, too. Calls take it only to say what is wrong.
BOXCAR_API std::recursive_mutex& registrationMutex() noexcept;

using RegistrationLock = std::lock_guard<std::recursive_mutex>;

}  // namespace boxcar::detail
