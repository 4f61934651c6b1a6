#pragma once

#include <boxcar/dispatcher/operator_entry.h>

#include <cstddef>
#include <functional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace boxcar {

template <class Function>
class TypedOperatorHandle;

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
  bool hasKernelForDispatchKey(DispatchKey key) const noexcept { return entry_->hasKernelForDispatchKey(key); }
  bool hasKernelForAnyDispatchKey(DispatchKeySet keys) const noexcept {
    return entry_->hasKernelForAnyDispatchKey(keys);
  }
  const OperatorEntry& entry() const noexcept { return *entry_; }

  // The operator for calls with C++ arguments. An Error with both types when its kernels have another signature.
  template <class Function>
  TypedOperatorHandle<Function> typed() const {
    entry_->assertSignatureIsCorrect(CppSignature::of<Function>());
    return TypedOperatorHandle<Function>(*this);
  }

  // Calls the operator with the values at the top of [stack] and replaces them by the results. When it throws because
  // the stack is too short or an argument has the wrong kind, or from an unboxed kernel, the stack is as it was. What a
  // kernel throws is an Error to the caller, whatever it was.
  void callBoxed(Stack& stack) const {
    if (!stack.holdsBytes(entry_->argumentBytes())) [[unlikely]]
      failShortStack(stack);
    try {
      redispatchBoxed(entry_->dispatchKeyExtractor().getDispatchKeySetBoxed(stack), stack);
    } catch (...) {
      detail::rethrowAsError(OperatorHandle(entry_));
    }
  }
  void callBoxed(Stack* stack) const { callBoxed(*stack); }

  // The same with the key set that a kernel was called with, less the keys that are done. [stack] still holds all
  // arguments; exceptions pass as they are.
  void redispatchBoxed(DispatchKeySet keys, Stack& stack) const {
    const Kernel* kernel = entry_->lookup(keys);
    kernel->boxed(kernel, *this, keys, stack);
  }
  void redispatchBoxed(DispatchKeySet keys, Stack* stack) const { redispatchBoxed(keys, *stack); }

  bool operator==(const OperatorHandle& other) const noexcept = default;

 protected:
  [[noreturn, gnu::cold]] void failShortStack(const Stack& stack) const;

  OperatorEntry* entry_;
};

inline std::string toString(const OperatorHandle& op) { return toString(op.operator_name()); }

// An operator with its C++ type. Made by OperatorHandle::typed, which checks that the type is right.
template <class R, class... Args>
class TypedOperatorHandle<R(Args...)> final : public OperatorHandle {
 public:
  // Dispatches on the arguments' keys and this thread's sets: one table look-up and one indirect call.
  [[gnu::always_inline]] R call(Args... args) const {
    const DispatchKeySet keys = entry_->dispatchKeyExtractor().getDispatchKeySetUnboxed(args...);
    try {
      return redispatch(keys, static_cast<Args&&>(args)...);
    } catch (...) {
      detail::rethrowAsError(OperatorHandle(entry_));
    }
  }

  // Dispatches on [keys] as they are: what a kernel calls to reach the kernels below it.
  [[gnu::always_inline]] R redispatch(DispatchKeySet keys, Args... args) const {
    const Kernel* kernel = entry_->lookup(keys);
    if (!kernel->has_unboxed) [[unlikely]]
      return callWithoutUnboxed(kernel, keys, static_cast<Args&&>(args)...);
    return callUnboxed(kernel, keys, static_cast<Args&&>(args)...);
  }

 private:
  friend class OperatorHandle;
  explicit TypedOperatorHandle(OperatorHandle op) noexcept : OperatorHandle(op) {}

  using Record = UnboxedKernel<detail::CanonicalType<R>(detail::CanonicalType<Args>...)>;

  [[gnu::always_inline]] static R callUnboxed(const Kernel* kernel, DispatchKeySet keys, Args&&... args) {
    return static_cast<const Record*>(kernel)->unboxed(
        kernel, keys, detail::recast<detail::CanonicalType<Args>>(static_cast<Args&&>(args))...);
  }

  // The cell lets the call through to the next key, or its kernel is a boxed one.
  [[gnu::noinline]] R callWithoutUnboxed(const Kernel* kernel, DispatchKeySet keys, Args... args) const {
    if (kernel->isFallthrough()) [[unlikely]]
      std::tie(kernel, keys) = entry_->lookupBelowFallthroughs(keys);
    if (kernel->has_unboxed) return callUnboxed(kernel, keys, static_cast<Args&&>(args)...);
    return detail::boxAndCall<R, Args...>(kernel, *this, keys, static_cast<Args&&>(args)...);
  }
};

}  // namespace boxcar

template <>
struct std::hash<boxcar::OperatorHandle> {
  size_t operator()(const boxcar::OperatorHandle& op) const noexcept { return std::hash<const void*>()(&op.entry()); }
};
