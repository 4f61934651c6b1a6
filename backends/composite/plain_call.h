#pragma once

#include <boxcar/dispatcher/call/local_dispatch_key_set.h>
#include <boxcar/dispatcher/call/watched_call.h>
#include <boxcar/ivalue/dispatch_key_set.h>

namespace boxcar::composite {

// Whether nothing else than plain CPU tensors takes part in a call with [keys]: no gradient, no transform of a
// function, no observer. What has led here, such as a derivative forwards, is no longer in [keys], but in the thread's.
inline bool isPlainCpuCall(DispatchKeySet keys) {
  constexpr DispatchKeySet kPlain =
      DispatchKeySet(DispatchKey::CPU) | DispatchKeySet({DispatchKey::ADInplaceOrView, DispatchKey::BackendSelect});
  constexpr DispatchKeySet kOthers(DispatchKeySet::RAW, ~kPlain.raw_repr());
  const DispatchKeySet others = ::boxcar::detail::computeDispatchKeySet(keys, kOthers);
  return others.empty() && !::boxcar::detail::callsAreWatched();
}

}  // namespace boxcar::composite
