#pragma once

#include <boxcar/dispatcher/operator_entry.h>
#include <boxcar/dispatcher/watched_call.h>

#include <cstddef>
#include <functional>
#include <source_location>
#include <string>
#include <type_traits>
#include <vector>

namespace boxcar {

template <class Function>
class TypedOperatorHandle;
template <class Function>
class DeclaredOperator;
namespace detail {
class OperatorReference;
}

// An operator, to call it or to ask about it: one pointer, free to copy. Handles stay good for ever; calls of an
// operator whose definition was removed throw an Error.
//
//   OperatorHandle op = Dispatcher::singleton().findSchemaOrThrow("aten::add", "Tensor");
//   op.callBoxed(stack);
//   Tensor sum = op.typed<Tensor(const Tensor&, const Tensor&, const Scalar&)>().call(a, b, 1);
class BOXCAR_API OperatorHandle {
 public:
  explicit OperatorHandle(OperatorEntry* entry) noexcept : entry_(entry) {}

  const OperatorName& operator_name() const noexcept { return entry_->operator_name(); }
  bool hasSchema() const noexcept { return entry_->hasSchema(); }
  // An Error when the operator is not defined.
  const FunctionSchema& schema() const { return entry_->schema(); }
  bool hasKernelForDispatchKey(DispatchKey key) const { return entry_->hasKernelForDispatchKey(key); }
  bool hasKernelForAnyDispatchKey(DispatchKeySet keys) const { return entry_->hasKernelForAnyDispatchKey(keys); }
  // Whether anything answers at [key], a runtime key: a kernel for it or for an alias of it, a fallback, a fallthrough.
  bool hasComputedKernelForDispatchKey(DispatchKey key) const;
  // What the definition says beside the schema.
  std::vector<Tag> getTags() const { return entry_->tags(); }
  bool hasTag(Tag tag) const;
  const OperatorEntry& entry() const noexcept { return *entry_; }

  // The operator for calls with C++ arguments. An Error with both types and both places when its kernels have another
  // signature. Nobody gives [where], the caller's place.
  template <class Function>
  TypedOperatorHandle<Function> typed(const std::source_location& where = std::source_location::current()) const {
    entry_->assertSignatureIsCorrect(CppSignature::of<Function>(), where);
    return TypedOperatorHandle<Function>(*this);
  }

  // Calls the operator with the values at the top of [stack] and replaces them by the results. When it throws because
  // the stack is too short or an argument has the wrong kind, or from an unboxed kernel, the stack is as it was. What a
  // kernel throws is an Error to the caller, whatever it was.
  [[gnu::always_inline]] void callBoxed(Stack& stack) const {
    const OperatorEntry* const entry = entry_;
    const DispatchArguments& arguments = entry->dispatchKeyExtractor().arguments();
    if (!stack.holdsBytes(arguments.bytes_of_short_way) || detail::callsAreWatched()) [[unlikely]]
      return callBoxedTheLongWay(stack);
    const DispatchKeySet keys = entry->dispatchKeyExtractor().getDispatchKeySetOfRun(arguments, stack);
    try {
      const Kernel* kernel = entry->lookup(keys);
      kernel->boxed(kernel, *this, keys, stack);
    } catch (...) {
      detail::rethrowAsError(OperatorHandle(entry_));
    }
  }
  void callBoxed(Stack* stack) const { callBoxed(*stack); }

  // The same with the key set that a kernel was called with, less the keys that are done. [stack] still holds all
  // arguments; exceptions pass as they are.
  void redispatchBoxed(DispatchKeySet keys, Stack& stack) const {
    if (detail::callsAreWatched()) [[unlikely]]
      return redispatchBoxedWatched(keys, stack);
    redispatchBoxedUnwatched(keys, stack);
  }
  void redispatchBoxed(DispatchKeySet keys, Stack* stack) const { redispatchBoxed(keys, *stack); }

  // Calls the kernel that was registered for exactly [key], or else the key's fallback, whatever the arguments' keys
  // are. An Error when there is neither. Takes the registration lock; meant for tools, not for the way of a call.
  void callBoxedForDispatchKey(DispatchKey key, Stack& stack) const;

  // A redispatch that the trace does not show, for kernels that hold nobody's code.
  void redispatchBoxedUnwatched(DispatchKeySet keys, Stack& stack) const {
    const Kernel* kernel = entry_->lookup(keys);
    kernel->boxed(kernel, *this, keys, stack);
  }

  bool operator==(const OperatorHandle& other) const noexcept = default;

 protected:
  friend class detail::OperatorReference;
  [[noreturn, gnu::cold]] void failShortStack(const Stack& stack) const;
  [[gnu::noinline]] void callBoxedTheLongWay(Stack& stack) const;
  [[gnu::cold]] void callBoxedWatched(const DispatchArguments& arguments, DispatchKeySet keys, Stack& stack) const;
  template <class Run>
  void callWatched(const DispatchArguments& arguments, DispatchKeySet keys, Stack& stack, Run&& run) const;
  [[gnu::cold]] void redispatchBoxedWatched(DispatchKeySet keys, Stack& stack) const;

  OperatorEntry* entry_;
};

namespace detail {

template <class R>
OperatorHandle handleOf(const OperatorEntry& entry) noexcept {
  return OperatorHandle(const_cast<OperatorEntry*>(&entry));
}

}  // namespace detail

inline std::string toString(const OperatorHandle& op) { return toString(op.operator_name()); }

// An operator with its C++ type. Made by OperatorHandle::typed, which checks that the type is right.
template <class R, class... Args>
class TypedOperatorHandle<R(Args...)> final : public OperatorHandle {
 public:
  // Dispatches on the arguments' keys and this thread's sets: one table look-up and one indirect call.
  [[gnu::always_inline]] R call(Args... args) const {
    const DispatchKeySet keys = entry_->dispatchKeyExtractor().getDispatchKeySetUnboxed(args...);
    try {
      return callKernel(detail::CallKind::Call, keys, static_cast<Args&&>(args)...);
    } catch (...) {
      detail::rethrowAsError(OperatorHandle(entry_));
    }
  }

  // Dispatches on [keys] as they are: what a kernel calls to reach the kernels below it.
  [[gnu::always_inline]] R redispatch(DispatchKeySet keys, Args... args) const {
    return callKernel(detail::CallKind::Redispatch, keys, static_cast<Args&&>(args)...);
  }

 private:
  friend class OperatorHandle;
  friend class DeclaredOperator<R(Args...)>;
  explicit TypedOperatorHandle(OperatorHandle op) noexcept : OperatorHandle(op) {}

  [[gnu::always_inline]] R callKernel(detail::CallKind kind, DispatchKeySet keys, Args... args) const {
    const Kernel* kernel = entry_->lookup(keys);
    if ((kind != detail::CallKind::Seen && detail::callsAreWatched()) || !kernel->has_unboxed) [[unlikely]]
      return callTheLongWay(kind, kernel, keys, static_cast<Args&&>(args)...);
    return detail::callUnboxedKernel<R, Args...>(kernel, keys, static_cast<Args&&>(args)...);
  }

  // Somebody watches, or the kernel is a boxed one; that of a cell that lets calls through goes on to the next key.
  [[gnu::noinline]] R callTheLongWay(detail::CallKind kind, const Kernel* kernel, DispatchKeySet keys,
                                     Args... args) const {
    if (detail::callsAreWatched() && kind != detail::CallKind::Seen) [[unlikely]]
      return callWatched(kind, keys, static_cast<Args&&>(args)...);
    // The operator may have been defined anew since the handle was made.
    if (entry_->argumentBytes() != sizeof...(Args) * sizeof(IValue)) [[unlikely]]
      detail::checkArgumentCount(*this, sizeof...(Args));
    return detail::boxAndCall<R, Args...>(kernel, *this, keys, static_cast<Args&&>(args)...);
  }

  [[gnu::noinline, gnu::cold]] R callWatched(detail::CallKind kind, DispatchKeySet keys, Args... args) const {
    detail::WatchedCall watched(kind, *this, keys);
    if (Stack* inputs = watched.wantedInputs()) (detail::pushOne(*inputs, args), ...);
    watched.start();
    if constexpr (std::is_void_v<R>) {
      callKernel(detail::CallKind::Seen, keys, static_cast<Args&&>(args)...);
      watched.finish();
    } else {
      R result = callKernel(detail::CallKind::Seen, keys, static_cast<Args&&>(args)...);
      if (Stack* outputs = watched.wantedOutputs()) detail::pushResults(*outputs, result);
      watched.finish();
      return static_cast<R&&>(result);
    }
  }
};

}  // namespace boxcar

template <>
struct std::hash<boxcar::OperatorHandle> {
  size_t operator()(const boxcar::OperatorHandle& op) const noexcept { return std::hash<const void*>()(&op.entry()); }
};
