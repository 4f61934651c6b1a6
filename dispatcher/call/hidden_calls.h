#pragma once

#include <boxcar/dispatcher/call/local_dispatch_key_set.h>
#include <boxcar/dispatcher/call/record_function.h>
#include <boxcar/ivalue/macros.h>

namespace boxcar {

// The keys of observers of calls: modes, tracers and autograd.
inline constexpr DispatchKeySet kOnlookerKeys =
    DispatchKeySet({DispatchKey::PreDispatch, DispatchKey::Python, DispatchKey::PythonTLSSnapshot,
                    DispatchKey::PythonDispatcher, DispatchKey::Tracer}) |
    autograd_dispatch_keyset;

// While it lives, this thread's calls are a handler's own bookkeeping: no mode, tracer, autograd kernel or observer
// sees them, and no operator is charged for what they allocate.
class BOXCAR_API HiddenCalls final {
 public:
  HiddenCalls() noexcept;
  ~HiddenCalls();
  HiddenCalls(const HiddenCalls&) = delete;
  HiddenCalls& operator=(const HiddenCalls&) = delete;

  // Whether one exists on this thread.
  static bool areOn() noexcept;

 private:
  ExcludeDispatchKeyGuard keys_;
  DisableRecordFunctionGuard observers_;
};

}  // namespace boxcar
