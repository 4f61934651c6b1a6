#pragma once

#include <boxcar/dispatcher/local_dispatch_key_set.h>
#include <boxcar/dispatcher/record_function.h>

namespace boxcar {

// The keys of those who look on at calls and write down what they see: modes, tracers and what differentiates.
inline constexpr DispatchKeySet kOnlookerKeys =
    DispatchKeySet({DispatchKey::PreDispatch, DispatchKey::Python, DispatchKey::PythonTLSSnapshot,
                    DispatchKey::PythonDispatcher, DispatchKey::Tracer}) |
    autograd_dispatch_keyset;

// What this thread calls while it lives is a handler's own bookkeeping: no mode, tracer, autograd kernel or
// observer sees it.
class HiddenCalls final {
 public:
  HiddenCalls() noexcept : keys_(kOnlookerKeys) {}

 private:
  ExcludeDispatchKeyGuard keys_;
  DisableRecordFunctionGuard observers_;
};

}  // namespace boxcar
