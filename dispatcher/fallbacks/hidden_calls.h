#pragma once

#include <boxcar/dispatcher/local_dispatch_key_set.h>
#include <boxcar/dispatcher/record_function.h>
#include <boxcar/ivalue/macros.h>

namespace boxcar {

// The keys of those who look on at calls and write down what they see: modes, tracers and what differentiates.
inline constexpr DispatchKeySet kOnlookerKeys =
    DispatchKeySet({DispatchKey::PreDispatch, DispatchKey::Python, DispatchKey::PythonTLSSnapshot,
                    DispatchKey::PythonDispatcher, DispatchKey::Tracer}) |
    autograd_dispatch_keyset;

// What this thread calls while it lives is a handler's own bookkeeping: no mode, tracer, autograd kernel or
// observer sees it, and what it allocates is no operator's.
class BOXCAR_API HiddenCalls final {
 public:
  HiddenCalls() noexcept;
  ~HiddenCalls();
  HiddenCalls(const HiddenCalls&) = delete;
  HiddenCalls& operator=(const HiddenCalls&) = delete;

  // Whether one lives on this thread.
  static bool areOn() noexcept;

 private:
  ExcludeDispatchKeyGuard keys_;
  DisableRecordFunctionGuard observers_;
};

}  // namespace boxcar
