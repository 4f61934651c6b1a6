#pragma once

#include <boxcar/dispatcher/kernel_function.h>
#include <boxcar/dispatcher/operator_handle.h>
#include <boxcar/ivalue/macros.h>

#include <memory>
#include <utility>

namespace boxcar {

struct ModeOptions {
  // Where the mode stands: PreDispatch, above everything, or Python, below autograd.
  DispatchKey key = DispatchKey::PreDispatch;
  // Whether the mode is also told of the calls that kernels make below its redispatch, as a profiler wants to be.
  bool sees_calls_below = false;
  // That the handler calls no operator but by its redispatch. One that also sees the calls below is then handed the
  // keys without the mode's, where no other mode is on, so that its redispatch leads straight to the kernels.
  bool only_redispatches = false;
};

namespace detail {

struct Mode {
  void (*run)(void* handler, const OperatorHandle&, DispatchKeySet, Stack&);
  void* handler;
  bool sees_calls_below;
  bool goes_straight;
  // How many of its handler's runs hide the mode from calls.
  int hidden = 0;
  Mode* outer = nullptr;
};

struct ModeRun;

// What a thread has at one of the two keys.
struct ModeStack {
  Mode* innermost = nullptr;
  ModeRun* running = nullptr;
  // Whether the thread included the key before it had modes.
  bool key_was_included = false;
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
      : handler_(new Handler(std::move(handler)), [](void* kept) { delete static_cast<Handler*>(kept); }),
        mode_{[](void* kept, const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
                detail::callBoxedFunction(*static_cast<Handler*>(kept), op, keys, stack);
              },
              handler_.get(), options.sees_calls_below, options.sees_calls_below && options.only_redispatches},
        key_(checkKey(options.key)) {
    enter();
  }
  ~ModeGuard();
  ModeGuard(const ModeGuard&) = delete;
  ModeGuard& operator=(const ModeGuard&) = delete;

 private:
  static DispatchKey checkKey(DispatchKey key);
  void enter() noexcept;

  const std::unique_ptr<void, void (*)(void*)> handler_;
  detail::Mode mode_;
  const DispatchKey key_;
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

// Takes this thread's modes away while it lives: for a handler that measures, or looks something up, by calls that
// nobody is to see.
class BOXCAR_API WithoutModes final {
 public:
  WithoutModes() noexcept;
  ~WithoutModes();
  WithoutModes(const WithoutModes&) = delete;
  WithoutModes& operator=(const WithoutModes&) = delete;

 private:
  const detail::ModeStack pre_dispatch_;
  const detail::ModeStack python_;
};

// How many modes this thread has at [key]; none anywhere but at PreDispatch and Python.
BOXCAR_API size_t modeCount(DispatchKey key = DispatchKey::PreDispatch) noexcept;

}  // namespace boxcar
