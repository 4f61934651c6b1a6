#pragma once

#include <boxcar/ivalue/dispatch_key_set.h>
#include <boxcar/ivalue/macros.h>

#include <cstdint>

namespace boxcar {

// The keys that this thread adds to every call, and those that it keeps; functionalities only. The second set is the
// complement of what the thread excludes, so that a call applies each set with one instruction.
struct PODLocalDispatchKeySet {
  uint64_t included_bits;
  uint64_t kept_bits;

  DispatchKeySet included() const noexcept { return {DispatchKeySet::RAW, included_bits}; }
  DispatchKeySet excluded() const noexcept { return {DispatchKeySet::RAW, ~kept_bits}; }
};

// One variable for the process, in libboxcar. Its initial value is part of the TLS image that every thread starts with,
// and with the initial-exec model an access is two instructions, without an initialisation check or a call.
extern BOXCAR_API constinit thread_local PODLocalDispatchKeySet raw_local_dispatch_key_set
    __attribute__((tls_model("initial-exec")));

struct LocalDispatchKeySet {
  DispatchKeySet included_;
  DispatchKeySet excluded_;
};

inline LocalDispatchKeySet tls_local_dispatch_key_set() noexcept {
  return {raw_local_dispatch_key_set.included(), raw_local_dispatch_key_set.excluded()};
}

namespace detail {

// Returns what a call is dispatched on: the arguments' keys and the included ones, minus the excluded ones and those
// that the operator lets through.
[[gnu::always_inline]] inline DispatchKeySet computeDispatchKeySet(DispatchKeySet keys, DispatchKeySet mask) noexcept {
  const PODLocalDispatchKeySet& local = raw_local_dispatch_key_set;
  return {DispatchKeySet::RAW, (keys.raw_repr() | local.included_bits) & local.kept_bits & mask.raw_repr()};
}

}  // namespace detail

// Adds keys to every call of this thread while it lives. Guards nest; the end of a guard restores the previous set.
// Backend bits of the keys are ignored: a thread adds functionalities; a tensor says which backend it is on.
class BOXCAR_API IncludeDispatchKeyGuard final {
 public:
  explicit IncludeDispatchKeyGuard(DispatchKeySet keys) noexcept;
  explicit IncludeDispatchKeyGuard(DispatchKey key) noexcept : IncludeDispatchKeyGuard(DispatchKeySet(key)) {}
  ~IncludeDispatchKeyGuard();
  IncludeDispatchKeyGuard(const IncludeDispatchKeyGuard&) = delete;
  IncludeDispatchKeyGuard& operator=(const IncludeDispatchKeyGuard&) = delete;

 private:
  uint64_t added_;
};

// Removes keys from every call of this thread while it lives, whatever the arguments' keys are.
class BOXCAR_API ExcludeDispatchKeyGuard final {
 public:
  explicit ExcludeDispatchKeyGuard(DispatchKeySet keys) noexcept;
  explicit ExcludeDispatchKeyGuard(DispatchKey key) noexcept : ExcludeDispatchKeyGuard(DispatchKeySet(key)) {}
  ~ExcludeDispatchKeyGuard();
  ExcludeDispatchKeyGuard(const ExcludeDispatchKeyGuard&) = delete;
  ExcludeDispatchKeyGuard& operator=(const ExcludeDispatchKeyGuard&) = delete;

 private:
  uint64_t added_;
};

// Replaces both of the thread's sets while it lives.
class BOXCAR_API ForceDispatchKeyGuard final {
 public:
  ForceDispatchKeyGuard(DispatchKeySet include, DispatchKeySet exclude) noexcept;
  explicit ForceDispatchKeyGuard(LocalDispatchKeySet keys) noexcept
      : ForceDispatchKeyGuard(keys.included_, keys.excluded_) {}
  ~ForceDispatchKeyGuard();
  ForceDispatchKeyGuard(const ForceDispatchKeyGuard&) = delete;
  ForceDispatchKeyGuard& operator=(const ForceDispatchKeyGuard&) = delete;

 private:
  PODLocalDispatchKeySet saved_;
};

// A kernel at an autograd key calls operators under these guards, which exclude the autograd keys; the second guard
// also excludes ADInplaceOrView, the key after them.
class AutoDispatchBelowAutograd final {
 public:
  AutoDispatchBelowAutograd() noexcept : guard_(autograd_dispatch_keyset) {}

 private:
  ExcludeDispatchKeyGuard guard_;
};

class AutoDispatchBelowADInplaceOrView final {
 public:
  AutoDispatchBelowADInplaceOrView() noexcept : guard_(autograd_dispatch_keyset_with_ADInplaceOrView) {}

 private:
  ExcludeDispatchKeyGuard guard_;
};

// While it lives nothing is differentiated, however tensors were made: autograd keys are excluded, and ADInplaceOrView
// is no longer included. `InferenceMode(false)` switches it off again for a nested scope.
class BOXCAR_API InferenceMode final {
 public:
  explicit InferenceMode(bool enabled = true) noexcept;
  static bool is_enabled() noexcept;

 private:
  ForceDispatchKeyGuard guard_;
};

// Adds the key TESTING_ONLY_GenericMode to every call of this thread, or removes it: for tests of handlers.
BOXCAR_API void TESTING_ONLY_tls_generic_mode_set_enabled(bool enabled) noexcept;

// Return whether all of [keys] are in the thread's included or excluded set.
BOXCAR_API bool tls_is_dispatch_keyset_included(DispatchKeySet keys) noexcept;
BOXCAR_API bool tls_is_dispatch_keyset_excluded(DispatchKeySet keys) noexcept;

// Read and change one key of the thread's sets.
BOXCAR_API bool tls_is_dispatch_key_included(DispatchKey key) noexcept;
BOXCAR_API bool tls_is_dispatch_key_excluded(DispatchKey key) noexcept;
BOXCAR_API void tls_set_dispatch_key_included(DispatchKey key, bool included) noexcept;
BOXCAR_API void tls_set_dispatch_key_excluded(DispatchKey key, bool excluded) noexcept;

}  // namespace boxcar
