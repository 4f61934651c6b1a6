#pragma once

#include <boxcar/ivalue/macros.h>

#include <mutex>

namespace boxcar::detail {

// The lock for every change of registrations, and for every look-up other than a call. Recursive, because listeners and
// library blocks register too. Calls take it only to report an error.
BOXCAR_API std::recursive_mutex& registrationMutex() noexcept;

using RegistrationLock = std::lock_guard<std::recursive_mutex>;

}  // namespace boxcar::detail
