#pragma once

#include <boxcar/ivalue/dispatch_key_set.h>
#include <boxcar/ivalue/macros.h>
#include <boxcar/ivalue/stack.h>

#include <atomic>
#include <cstdint>
#include <memory>

namespace boxcar {

class OperatorHandle;
class RecordFunction;

namespace detail {

// The number of watchers of calls: the trace, and each observer callback of any thread. It is zero in nearly every
// program, so a call pays one branch for all of them.
extern BOXCAR_API constinit std::atomic<uint32_t> watchers;

[[gnu::always_inline]] inline bool callsAreWatched() noexcept { return watchers.load(std::memory_order_relaxed) != 0; }

// Seen: a call that observers have already been told of.
enum class CallKind : uint8_t { Call, Redispatch, BoxedCall, BoxedRedispatch, Seen };

// A call while calls are watched: writes its trace line, and tells the observers of its start and, when it is
// destroyed, of its end.
//
//   WatchedCall watched(CallKind::Call, op, keys);
//   if (Stack* inputs = watched.wantedInputs()) …
//   watched.start();
//   …
//   if (Stack* outputs = watched.wantedOutputs()) …
//   watched.finish();
class BOXCAR_API WatchedCall final {
 public:
  WatchedCall(CallKind kind, const OperatorHandle& op, DispatchKeySet keys);
  ~WatchedCall();
  WatchedCall(const WatchedCall&) = delete;
  WatchedCall& operator=(const WatchedCall&) = delete;

  // Return where to put the arguments before `start`, and the results before `finish`, for observers; null if no
  // observer wants them.
  Stack* wantedInputs() noexcept;
  Stack* wantedOutputs() noexcept;
  void start();
  // Called if the kernel returned: passes the results to the observers.
  void finish();

 private:
  const OperatorHandle& op_;
  std::unique_ptr<RecordFunction> record_;
  Stack values_;  // the inputs until the start, then the outputs
  bool traced_ = false;
};

}  // namespace detail
}  // namespace boxcar
