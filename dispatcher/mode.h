#pragma once

#include <boxcar/dispatcher/kernel_function.h>
#include <boxcar/dispatcher/operator_handle.h>
#include <boxcar/ivalue/macros.h>

#include <functional>
#include <utility>

namespace boxcar {

struct ModeOptions {
  // Where the mode stands: PreDispatch, above everything, or Python, below autograd.
  DispatchKey key = DispatchKey::PreDispatch;
  // Whether the mode is also told of the calls that kernels make below its redispatch, as a profiler wants to be.
  bool sees_calls_below = false;
};

namespace detail {

struct Mode {
  std::function<void(const OperatorHandle&, DispatchKeySet, Stack&)> handler;
  bool sees_calls_below;
  // How many of its handler's runs hide the mode from calls.
  int hidden = 0;
  Mode* outer = nullptr;
};

}  // namespace detail

// A mode: a boxed handler that wraps every operator call of this thread while it lives.
//
//   const ModeGuard trace([](const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
//     fmt::print("{}\n", op.operator_name());
//     op.redispatchBoxed(keys, stack);
//   });
//
// Modes nest: the innermost handler runs first, and what it redispatches with the keys that it was called with goes to
// the next one out, at the end to the kernels. A handler that does not redispatch answers the call itself. Calls that a
// handler makes on its own are hidden from its mode, not from those further out; a call of the same operator with the
// same keys counts as its redispatch. An operator's own kernel at the mode's key runs instead of the modes. A guard is
// destroyed on the thread that made it, and not by its own handler.
class BOXCAR_API ModeGuard final {
 public:
  // [handler] is any boxed kernel: void(const OperatorHandle&, DispatchKeySet, Stack&), or with a Stack*. An Error when
  // the options' key is neither PreDispatch nor Python.
  template <class Handler>
  explicit ModeGuard(Handler handler, ModeOptions options = {})
      : mode_{[kept = std::move(handler)](const OperatorHandle& op, DispatchKeySet keys, Stack& stack) mutable {
                detail::callBoxedFunction(kept, op, keys, stack);
              },
              options.sees_calls_below},
        key_(checkKey(options.key)) {
    enter();
  }
  ~ModeGuard();
  ModeGuard(const ModeGuard&) = delete;
  ModeGuard& operator=(const ModeGuard&) = delete;

 private:
  static DispatchKey checkKey(DispatchKey key);
  void enter() noexcept;

  detail::Mode mode_;
  DispatchKey key_;
};

// What the innermost handler that runs at [key] redispatches while this lives shows its mode the calls that kernels
// make below, as a mode with sees_calls_below is always shown them. Nothing where no handler runs.
class BOXCAR_API ModeSeesCallsBelow final {
 public:
  explicit ModeSeesCallsBelow(DispatchKey key = DispatchKey::PreDispatch) noexcept;
  ~ModeSeesCallsBelow();
  ModeSeesCallsBelow(const ModeSeesCallsBelow&) = delete;
  ModeSeesCallsBelow& operator=(const ModeSeesCallsBelow&) = delete;

 private:
  bool* const sees_;  // null where no handler runs
  const bool before_;
};

// How many modes this thread has at [key]; none anywhere but at PreDispatch and Python.
BOXCAR_API size_t modeCount(DispatchKey key = DispatchKey::PreDispatch) noexcept;

}  // namespace boxcar
