#pragma once

#include <boxcar/dispatcher/call/watched_call.h>
#include <boxcar/dispatcher/registry/operator_entry.h>

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

// An operator, to call or to query: one pointer, cheap to copy. Handles stay valid forever; calls of an operator whose
// definition was removed throw Error.
//
//   OperatorHandle op = Dispatcher::singleton().findSchemaOrThrow("aten::add", "Tensor");
//   op.callBoxed(stack);
//   Tensor sum = op.typed<Tensor(const Tensor&, const Tensor&, const Scalar&)>().call(a, b, 1);
class BOXCAR_API OperatorHandle {
 public:
  explicit OperatorHandle(OperatorEntry* entry) noexcept : entry_(entry) {}

  const OperatorName& operator_name() const noexcept { return entry_->operator_name(); }
  bool hasSchema() const noexcept { return entry_->hasSchema(); }
  // Throws Error if the operator is not defined.
  const FunctionSchema& schema() const { return entry_->schema(); }
  bool hasKernelForDispatchKey(DispatchKey key) const { return entry_->hasKernelForDispatchKey(key); }
  bool hasKernelForAnyDispatchKey(DispatchKeySet keys) const { return entry_->hasKernelForAnyDispatchKey(keys); }
  // Whether anything answers at [key], a runtime key: a kernel for it or for one of its alias keys, a fallback, or a
  // fallthrough.
  bool hasComputedKernelForDispatchKey(DispatchKey key) const;
  // Returns the tags of the definition.
  std::vector<Tag> getTags() const { return entry_->tags(); }
  bool hasTag(Tag tag) const;
  const OperatorEntry& entry() const noexcept { return *entry_; }

  // Returns the operator for calls with C++ arguments. Throws an Error with both types and both places if its kernels
  // have another signature. Leave out [where]: it defaults to the caller's place.
  template <class Function>
  TypedOperatorHandle<Function> typed(const std::source_location& where = std::source_location::current()) const {
    entry_->assertSignatureIsCorrect(CppSignature::of<Function>(), where);
    return TypedOperatorHandle<Function>(*this);
  }

  // Calls the operator with the values at the top of [stack] and replaces them by the results. The stack is unchanged
  // if the call throws because the stack is too short, because an argument has the wrong kind, or from an unboxed
  // kernel. Whatever a kernel throws reaches the caller as an Error.
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

  // As above, with the key set that a kernel was called with, minus the keys that are done. [stack] must still hold all
  // arguments; exceptions pass unchanged.
  void redispatchBoxed(DispatchKeySet keys, Stack& stack) const {
    if (detail::callsAreWatched()) [[unlikely]]
      return redispatchBoxedWatched(keys, stack);
    redispatchBoxedUnwatched(keys, stack);
  }
  void redispatchBoxed(DispatchKeySet keys, Stack* stack) const { redispatchBoxed(keys, *stack); }

  // Calls the kernel that was registered for exactly [key], or else the key's fallback, whatever the arguments' keys
  // are. Throws Error if there is neither. Takes the registration lock: meant for tools, not for the hot path.
  void callBoxedForDispatchKey(DispatchKey key, Stack& stack) const;

  // A redispatch that the trace does not show, for kernels without a registered function.
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

// An operator with its C++ type. OperatorHandle::typed makes it, and checks that the type is right.
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

  // Dispatches on [keys] as they are: a kernel calls this to reach the kernels below it.
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

  // The slow path: calls are watched, or the kernel is boxed. The boxed function of a fallthrough table entry goes on
  // to the next key.
  [[gnu::noinline]] R callTheLongWay(detail::CallKind kind, const Kernel* kernel, DispatchKeySet keys,
                                     Args... args) const {
    if (detail::callsAreWatched() && kind != detail::CallKind::Seen) [[unlikely]]
      return callWatched(kind, keys, static_cast<Args&&>(args)...);
    // The operator may have been redefined since the handle was made.
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
