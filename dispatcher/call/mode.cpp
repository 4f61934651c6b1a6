#include <boxcar/dispatcher/call/local_dispatch_key_set.h>
#include <boxcar/dispatcher/call/mode.h>
#include <boxcar/dispatcher/call/tensor_class.h>
#include <boxcar/ivalue/error.h>

#include <utility>

namespace boxcar {
namespace detail {

// A handler that is running.
struct ModeRun {
  Mode* mode;
  Mode* innermost;  // of the thread's modes when it began
  bool sees_calls_below;
  // The call that it was given, which distinguishes its redispatch from calls of its own.
  const OperatorEntry* entry;
  DispatchKeySet keys;
  const Stack* stack;
  size_t height;
  // The run whose redispatch led here; null for the first run of a call.
  ModeRun* before;
};

}  // namespace detail

namespace {

using detail::Mode;
using detail::ModeStack;
using Run = detail::ModeRun;

constinit thread_local ModeStack pre_dispatch_modes __attribute__((tls_model("initial-exec")));
constinit thread_local ModeStack python_modes __attribute__((tls_model("initial-exec")));

ModeStack& modesAt(DispatchKey key) noexcept { return key == DispatchKey::Python ? python_modes : pre_dispatch_modes; }

Mode* firstVisible(Mode* mode) noexcept {
  while (mode != nullptr && mode->hidden != 0) mode = mode->outer;
  return mode;
}

// Sets a variable while it lives.
template <class T>
class Setting final {
 public:
  Setting(T& variable, T value) : variable_(variable), before_(std::exchange(variable, value)) {}
  ~Setting() { variable_ = before_; }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  T& variable_;
  T before_;
};

// While it lives, shows calls to the modes that asked for the calls below and whose handlers led here.
class ShowingModes final {
 public:
  explicit ShowingModes(const Run* last) : last_(last) { add(-1); }
  ~ShowingModes() { add(1); }
  ShowingModes(const ShowingModes&) = delete;
  ShowingModes& operator=(const ShowingModes&) = delete;

 private:
  void add(int change) const noexcept {
    for (const Run* run = last_; run != nullptr; run = run->before) {
      if (run->sees_calls_below) run->mode->hidden += change;
    }
  }

  const Run* last_;
};

// Leaves the modes of [key]: at Python, the tensors' classes come next.
[[gnu::always_inline]] inline void goBelowModes(DispatchKey key, const OperatorHandle& op, DispatchKeySet keys,
                                                Stack& stack) {
  if (key == DispatchKey::Python && detail::hasTensorClasses()) [[unlikely]]
    return detail::callTensorClasses(op, keys.remove(key), stack);
  op.redispatchBoxed(keys.remove(key), stack);
}

[[gnu::noinline]] void runModesInTurn(ModeStack& modes, DispatchKey key, const OperatorHandle& op, DispatchKeySet keys,
                                      Stack& stack) {
  // A call with the handler's keys, or with the arguments where the handler found them, is its redispatch and not a
  // call of its own.
  Run* const running = modes.running;
  // But a mode that the handler has entered since then sees the calls made inside it.
  const bool continues = running != nullptr && running->entry == &op.entry() && running->innermost == modes.innermost &&
                         (running->keys == keys || (running->stack == &stack && running->height == stack.size()));
  Mode* const next = firstVisible(continues ? running->mode->outer : modes.innermost);
  if (next != nullptr) {
    Run run{next, modes.innermost, next->sees_calls_below, &op.entry(),
            keys, &stack,          stack.size(),           continues ? running : nullptr};
    const Setting<Run*> setting(modes.running, &run);
    const Setting<int> hiding(next->hidden, next->hidden + 1);
    next->run(next->handler, op, keys, stack);
    return;
  }
  if (!continues) return goBelowModes(key, op, keys, stack);
  // Calls from here on are made by the kernels below.
  const Setting<Run*> setting(modes.running, nullptr);
  const ShowingModes showing(running);
  goBelowModes(key, op, keys, stack);
}

void runModes(const Kernel* kernel, const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
  constexpr DispatchKeySet kPreDispatch(DispatchKey::PreDispatch);
  constexpr DispatchKeySet kPython(DispatchKey::Python);
  const bool is_above = keys.has_any(kPreDispatch);
  ModeStack& modes = is_above ? pre_dispatch_modes : python_modes;
  Mode* const innermost = modes.innermost;
  // A tensor or a guard brought the key, not a mode.
  if (innermost == nullptr) [[unlikely]] {
    if (!is_above && detail::hasTensorClasses()) return detail::callTensorClasses(op, keys - kPython, stack);
    return detail::kMissingKernel.boxed(kernel, op, keys, stack);
  }
  // The usual profiler: its run need not be recorded, because it makes no calls that would have to be hidden.
  if (innermost->goes_straight && innermost->outer == nullptr && modes.running == nullptr &&
      (is_above || !detail::hasTensorClasses()))
    return innermost->run(innermost->handler, op, is_above ? keys - kPreDispatch : keys - kPython, stack);
  runModesInTurn(modes, is_above ? DispatchKey::PreDispatch : DispatchKey::Python, op, keys, stack);
}

}  // namespace

namespace detail {

constinit const Kernel kModesKernel = {&runModes, KernelKind::Modes};

}  // namespace detail

DispatchKey ModeGuard::checkKey(DispatchKey key) {
  BOXCAR_CHECK(key == DispatchKey::PreDispatch || key == DispatchKey::Python,
               "a mode cannot be at {}: modes are at PreDispatch, above everything, or at Python, below autograd", key);
  return key;
}

void ModeGuard::enter() noexcept {
  ModeStack& modes = modesAt(key_);
  if (modes.innermost == nullptr) {
    modes.key_was_included = tls_is_dispatch_key_included(key_);
    tls_set_dispatch_key_included(key_, true);
  }
  mode_.outer = modes.innermost;
  modes.innermost = &mode_;
}

ModeGuard::~ModeGuard() {
  ModeStack& modes = modesAt(key_);
  Mode** place = &modes.innermost;
  while (*place != &mode_) {
    // This cannot be repaired: the other thread's calls would reach a mode that no longer exists.
    BOXCAR_CHECK(*place != nullptr, "a ModeGuard or HandlerGuard must end on the thread that made it");
    place = &(*place)->outer;
  }
  *place = mode_.outer;
  if (modes.innermost == nullptr && !modes.key_was_included) tls_set_dispatch_key_included(key_, false);
}

ModeSeesCallsBelow::ModeSeesCallsBelow(DispatchKey key) noexcept
    : sees_(modesAt(key).running == nullptr ? nullptr : &modesAt(key).running->sees_calls_below),
      before_(sees_ != nullptr && *sees_) {
  if (sees_ != nullptr) *sees_ = true;
}

ModeSeesCallsBelow::~ModeSeesCallsBelow() {
  if (sees_ != nullptr) *sees_ = before_;
}

WithoutModes::WithoutModes() noexcept
    : pre_dispatch_(std::exchange(pre_dispatch_modes, {})), python_(std::exchange(python_modes, {})) {
  if (pre_dispatch_.innermost != nullptr && !pre_dispatch_.key_was_included)
    tls_set_dispatch_key_included(DispatchKey::PreDispatch, false);
  if (python_.innermost != nullptr && !python_.key_was_included)
    tls_set_dispatch_key_included(DispatchKey::Python, false);
}

WithoutModes::~WithoutModes() {
  pre_dispatch_modes = pre_dispatch_;
  python_modes = python_;
  if (pre_dispatch_.innermost != nullptr) tls_set_dispatch_key_included(DispatchKey::PreDispatch, true);
  if (python_.innermost != nullptr) tls_set_dispatch_key_included(DispatchKey::Python, true);
}

size_t modeCount(DispatchKey key) noexcept {
  size_t count = 0;
  if (key != DispatchKey::PreDispatch && key != DispatchKey::Python) return count;
  for (const Mode* mode = modesAt(key).innermost; mode != nullptr; mode = mode->outer) ++count;
  return count;
}

}  // namespace boxcar
