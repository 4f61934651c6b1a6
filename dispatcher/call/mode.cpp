#include <boxcar/dispatcher/call/dispatch_key_extractor.h>
#include <boxcar/dispatcher/call/hidden_calls.h>
#include <boxcar/dispatcher/call/local_dispatch_key_set.h>
#include <boxcar/dispatcher/call/mode.h>
#include <boxcar/dispatcher/call/mode_levels.h>
#include <boxcar/dispatcher/call/tensor_class.h>
#include <boxcar/dispatcher/registry/intercepted_levels.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

#include <cstddef>
#include <memory>
#include <string>
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

// Made for the first mode at the level, and freed with the last one.
struct LevelModes {
  DispatchKey level;
  ModeStack modes;
  LevelModes* next;
};

}  // namespace detail

namespace {

using detail::LevelModes;
using detail::Mode;
using detail::ModeStack;
using Run = detail::ModeRun;

constinit thread_local ModeStack pre_dispatch_modes __attribute__((tls_model("initial-exec")));
constinit thread_local ModeStack python_modes __attribute__((tls_model("initial-exec")));

LevelModes* findLevel(DispatchKey level) noexcept {
  LevelModes* found = detail::mode_levels == nullptr ? nullptr : detail::mode_levels->first;
  while (found != nullptr && found->level != level) found = found->next;
  return found;
}

// Null if there are none.
ModeStack* modesAt(DispatchKey key) noexcept {
  if (key == DispatchKey::PreDispatch) return &pre_dispatch_modes;
  if (key == DispatchKey::Python) return &python_modes;
  LevelModes* const level = findLevel(key);
  return level == nullptr ? nullptr : &level->modes;
}

bool hasDefaultModes(DispatchKey key) noexcept { return key == DispatchKey::PreDispatch || key == DispatchKey::Python; }

void setIncluded(DispatchKey key, bool is_included) noexcept {
  if (hasDefaultModes(key)) return tls_set_dispatch_key_included(key, is_included);
  is_included ? detail::includeForModes(key) : detail::excludeForModes(key);
}

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

// Whether a call has the level for another reason than the thread's modes: an argument or the thread brings it.
bool hasLevel(DispatchKey level, const OperatorHandle& op, DispatchKeySet keys_of_call, const Stack& stack) noexcept {
  const DispatchKeySet bit(level);
  if (detail::mode_levels == nullptr || (detail::mode_levels->only & bit.raw_repr()) == 0) return true;
  // Or a kernel does that has chosen the backend, as for a new tensor.
  if (level == DispatchKey::Dense) return (keys_of_call.raw_repr() & full_backend_mask) != 0;
  const DispatchArguments& arguments = op.entry().dispatchKeyExtractor().arguments();
  DispatchKeySet keys;
  for (const IValue& value : last(const_cast<Stack&>(stack), arguments.bytes / sizeof(IValue))) {
    keys |= detail::keysOfValue(value, arguments.list_depth);
  }
  return (keys.raw_repr() & bit.raw_repr() & ~full_backend_mask) != 0;
}

// Calls what the level of [kernel] does itself, if anything, or what is below.
void goBelowLevel(const Kernel* kernel, DispatchKey level, const OperatorHandle& op, DispatchKeySet keys,
                  Stack& stack) {
  const Kernel* const inner = detail::behindModes(kernel);
  if (!inner->isFallthrough() && hasLevel(level, op, keys, stack)) return inner->boxed(inner, op, keys, stack);
  op.redispatchBoxed(keys.remove(level), stack);
}

// Leaves the modes of PreDispatch or Python: at the latter, the tensors' classes come next.
struct BelowDefault {
  [[gnu::always_inline]] void operator()(DispatchKey key, const OperatorHandle& op, DispatchKeySet keys,
                                         Stack& stack) const {
    if (key == DispatchKey::Python && detail::hasTensorClasses()) [[unlikely]]
      return detail::callTensorClasses(op, keys.remove(key), stack);
    op.redispatchBoxed(keys.remove(key), stack);
  }
};

// Leaves those of another level, whose kernel led to them.
struct BelowLevel {
  const Kernel* kernel;

  void operator()(DispatchKey key, const OperatorHandle& op, DispatchKeySet keys, Stack& stack) const {
    goBelowLevel(kernel, key, op, keys, stack);
  }
};

template <class GoBelow>
[[gnu::noinline]] void runModesInTurn(ModeStack& modes, DispatchKey key, const OperatorHandle& op, DispatchKeySet keys,
                                      Stack& stack, GoBelow goBelow) {
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
  if (!continues) return goBelow(key, op, keys, stack);
  // Calls from here on are made by the kernels below.
  const Setting<Run*> setting(modes.running, nullptr);
  const ShowingModes showing(running);
  goBelow(key, op, keys, stack);
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
  runModesInTurn(modes, is_above ? DispatchKey::PreDispatch : DispatchKey::Python, op, keys, stack, BelowDefault());
}

}  // namespace

namespace detail {

constinit const Kernel kModesKernel = {&runModes, KernelKind::Modes};

void runLevelModes(const Kernel* kernel, const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
  const DispatchKey level = keys.highestFunctionalityKey();
  LevelModes* const there = findLevel(level);
  // Another thread has modes there, or the call is a handler's bookkeeping.
  if (there == nullptr || HiddenCalls::areOn()) return goBelowLevel(kernel, level, op, keys, stack);
  runModesInTurn(there->modes, level, op, keys, stack, BelowLevel{kernel});
}

}  // namespace detail

std::string whyNoModeAt(DispatchKey key) {
  if (key == DispatchKey::Undefined) return "is not a key that calls dispatch to";
  if (isAliasDispatchKey(key)) return "stands for several keys; name one of them";
  const DispatchKey functionality = toFunctionalityKey(key);
  if (functionality != key) {
    return fmt::format("is a key of one backend; name the functionality, {}, for all of them", functionality);
  }
  if (key == DispatchKey::PythonDispatcher) {
    return "stays on where a call goes on below; name PreDispatch, which is next to it";
  }
  return "";
}

DispatchKey ModeGuard::checkKey(DispatchKey key) {
  const std::string why = whyNoModeAt(key);
  BOXCAR_CHECK(why.empty(), "a mode cannot be at {}, which {}", key, why);
  return key;
}

void ModeGuard::enter() {
  ModeStack* modes = modesAt(key_);
  if (modes == nullptr) {
    auto levels = std::make_unique<detail::ModeLevels>();
    auto level = std::make_unique<LevelModes>(LevelModes{key_, {}, nullptr});
    detail::interceptLevel(key_);
    if (detail::mode_levels == nullptr) detail::mode_levels = levels.release();
    level->next = detail::mode_levels->first;
    modes = &level->modes;
    detail::mode_levels->first = level.release();
  }
  if (modes->innermost == nullptr) {
    modes->key_was_included = hasDefaultModes(key_) && tls_is_dispatch_key_included(key_);
    setIncluded(key_, true);
  }
  mode_.outer = modes->innermost;
  modes->innermost = &mode_;
}

ModeGuard::~ModeGuard() {
  ModeStack* const modes = modesAt(key_);
  Mode** place = modes == nullptr ? nullptr : &modes->innermost;
  while (place == nullptr || *place != &mode_) {
    // This cannot be repaired: the other thread's calls would reach a mode that no longer exists.
    BOXCAR_CHECK(place != nullptr && *place != nullptr,
                 "a ModeGuard or HandlerGuard must end on the thread that made it");
    place = &(*place)->outer;
  }
  *place = mode_.outer;
  if (modes->innermost != nullptr) return;
  if (!modes->key_was_included) setIncluded(key_, false);
  if (hasDefaultModes(key_)) return;
  LevelModes** level = &detail::mode_levels->first;
  while ((*level)->level != key_) level = &(*level)->next;
  delete std::exchange(*level, (*level)->next);
  if (detail::mode_levels->first == nullptr) delete std::exchange(detail::mode_levels, nullptr);
  detail::releaseLevel(key_);
}

ModeSeesCallsBelow::ModeSeesCallsBelow(DispatchKey key) noexcept
    : sees_([key]() -> bool* {
        ModeStack* const modes = modesAt(key);
        return modes == nullptr || modes->running == nullptr ? nullptr : &modes->running->sees_calls_below;
      }()),
      before_(sees_ != nullptr && *sees_) {
  if (sees_ != nullptr) *sees_ = true;
}

ModeSeesCallsBelow::~ModeSeesCallsBelow() {
  if (sees_ != nullptr) *sees_ = before_;
}

WithoutModes::WithoutModes() noexcept
    : pre_dispatch_(std::exchange(pre_dispatch_modes, {})),
      python_(std::exchange(python_modes, {})),
      levels_(std::exchange(detail::mode_levels, nullptr)) {
  if (pre_dispatch_.innermost != nullptr && !pre_dispatch_.key_was_included)
    tls_set_dispatch_key_included(DispatchKey::PreDispatch, false);
  if (python_.innermost != nullptr && !python_.key_was_included)
    tls_set_dispatch_key_included(DispatchKey::Python, false);
  if (levels_ != nullptr) raw_local_dispatch_key_set.included_bits &= ~levels_->only;
}

WithoutModes::~WithoutModes() {
  pre_dispatch_modes = pre_dispatch_;
  python_modes = python_;
  detail::mode_levels = levels_;
  if (pre_dispatch_.innermost != nullptr) tls_set_dispatch_key_included(DispatchKey::PreDispatch, true);
  if (python_.innermost != nullptr) tls_set_dispatch_key_included(DispatchKey::Python, true);
  if (levels_ == nullptr) return;
  levels_->only = levels_->wanted & ~raw_local_dispatch_key_set.included_bits;
  raw_local_dispatch_key_set.included_bits |= levels_->wanted;
}

size_t modeCount(DispatchKey key) noexcept {
  size_t count = 0;
  const ModeStack* const modes = modesAt(key);
  if (modes == nullptr) return count;
  for (const Mode* mode = modes->innermost; mode != nullptr; mode = mode->outer) ++count;
  return count;
}

bool hasModesBelow(DispatchKey key) noexcept {
  const DispatchKeySet below(DispatchKeySet::FULL_AFTER, key);
  if (python_modes.innermost != nullptr && below.has(DispatchKey::Python)) return true;
  const detail::ModeLevels* const levels = detail::mode_levels;
  return levels != nullptr && (levels->wanted & below.raw_repr() & ~full_backend_mask) != 0;
}

}  // namespace boxcar
