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

// How many reasons there are to look closer at calls: the trace, and each callback of an observer, of any thread. Zero
// in nearly every program, so that a call pays one branch for all of them.
extern BOXCAR_API constinit std::atomic<uint32_t> watchers;

inline bool callsAreWatched() noexcept { return watchers.load(std::memory_order_relaxed) != 0; }

enum class CallKind : uint8_t { Call, Redispatch, BoxedCall, BoxedRedispatch };

// A call while somebody watches: writes its line of the trace, and tells the observers of its start and, when it is
// destroyed, of its end.
class BOXCAR_API WatchedCall final {
 public:
  WatchedCall(CallKind kind, const OperatorHandle& op, DispatchKeySet keys);
  ~WatchedCall();
  WatchedCall(const WatchedCall&) = delete;
  WatchedCall& operator=(const WatchedCall&) = delete;

  // Whether the observers want to see the arguments, and the results.
  bool needsInputs() const noexcept;
  bool needsOutputs() const noexcept;
  // To be called before the kernel; [inputs] only where they are needed.
  void start(Stack inputs = {});
  void setOutputs(Stack outputs);

 private:
  const OperatorHandle& op_;
  std::unique_ptr<RecordFunction> record_;
  bool traced_ = false;
};

}  // namespace detail
}  // namespace boxcar
