#pragma once

#include <boxcar/dispatcher/boxing/kernel_function.h>
#include <boxcar/dispatcher/registry/operator_handle.h>
#include <boxcar/ivalue/macros.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

namespace boxcar {

struct ModeOptions {
  // The mode's level, a functionality: PreDispatch is above everything, Python below autograd. Any other will do, too,
  // but PythonDispatcher.
  DispatchKey key = DispatchKey::PreDispatch;
  // Whether the mode also sees the calls that kernels make below its redispatch, as a profiler needs.
  bool sees_calls_below = false;
  // Promises that the handler calls no operator except by its redispatch. If such a mode also sees the calls below and
  // no other mode is on, it gets the key set without the mode's key, so its redispatch leads straight to the kernels.
  bool only_redispatches = false;
};

namespace detail {

struct Mode {
  void (*run)(void* handler, const OperatorHandle&, DispatchKeySet, Stack&);
  void* handler;
  bool sees_calls_below;
  bool goes_straight;
  // How many running invocations of its handler hide the mode from calls.
  int hidden = 0;
  Mode* outer = nullptr;
};

struct ModeRun;

// A thread's modes at one level.
struct ModeStack {
  Mode* innermost = nullptr;
  ModeRun* running = nullptr;
  // Whether the thread included the key before it had modes; for PreDispatch and Python.
  bool key_was_included = false;
};

// A thread's modes at other levels than PreDispatch and Python.
struct ModeLevels;

}  // namespace detail

// A mode: a boxed handler that wraps every operator call of this thread while it lives.
//
//   const ModeGuard trace([](const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
//     fmt::print("{}\n", op.operator_name());
//     op.redispatchBoxed(keys, stack);
//   });
//
// Modes nest: the innermost handler runs first. A redispatch with the keys that it was called with goes to the next
// mode out, and finally to the kernels. A handler that does not redispatch answers the call itself. Other calls that a
// handler makes are hidden from its own mode but not from modes further out; a call of the same operator with the same
// keys counts as its redispatch. A guard must be destroyed on the thread that made it, and not by its own handler.
//
// A mode stands at a level, its key, and gets the calls that come by there on their way down: those above it have done
// their work, so that below FuncTorchBatched tensors have their batch, and below Autocast their new dtype. The level's
// own kernel, if the call has one to run, comes after its modes: at FuncTorchBatched a mode gets batched tensors. Calls
// that a kernel above makes of others, such as those that an operator is made of, come by one by one. At PreDispatch
// and Python, where no others have kernels, an operator's own kernel runs instead of the modes. A level that the
// thread excludes has no calls: autocast's are excluded outside of its regions. The first mode at a level other than
// PreDispatch and Python changes all operators' tables, and so does the end of the last one.
class BOXCAR_API ModeGuard final {
 public:
  // [handler] is any boxed kernel: void(const OperatorHandle&, DispatchKeySet, Stack&), or with a Stack*. Throws Error
  // if there can be no modes at the options' key.
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
  void enter();

  const std::unique_ptr<void, void (*)(void*)> handler_;
  detail::Mode mode_;
  const DispatchKey key_;
};

// While it lives, redispatches of the innermost handler that runs at [key] show its mode the calls that kernels make
// below, as if the mode had sees_calls_below. Does nothing if no handler runs.
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

// Removes this thread's modes while it lives: for a handler that measures or looks something up with calls that nobody
// should see.
class BOXCAR_API WithoutModes final {
 public:
  WithoutModes() noexcept;
  ~WithoutModes();
  WithoutModes(const WithoutModes&) = delete;
  WithoutModes& operator=(const WithoutModes&) = delete;

 private:
  const detail::ModeStack pre_dispatch_;
  const detail::ModeStack python_;
  detail::ModeLevels* const levels_;
};

// Returns how many modes this thread has at [key].
BOXCAR_API size_t modeCount(DispatchKey key = DispatchKey::PreDispatch) noexcept;

// Whether this thread has modes at a level below that of [key].
BOXCAR_API bool hasModesBelow(DispatchKey key) noexcept;

// Says in a sentence without a subject why no mode can be at [key]: "is a key of one backend, …"; empty if one can.
BOXCAR_API std::string whyNoModeAt(DispatchKey key);

}  // namespace boxcar
