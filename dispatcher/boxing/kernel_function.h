#pragma once

#include <boxcar/dispatcher/boxing/boxing.h>
#include <boxcar/dispatcher/boxing/canonical_type.h>
#include <boxcar/dispatcher/boxing/counted_writes.h>
#include <boxcar/dispatcher/boxing/cpp_signature.h>
#include <boxcar/dispatcher/boxing/function_type.h>
#include <boxcar/dispatcher/boxing/kernel.h>
#include <boxcar/dispatcher/boxing/operator_kernel.h>
#include <boxcar/dispatcher/boxing/pinned_kernel.h>
#include <boxcar/ivalue/macros.h>

#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

namespace boxcar {

namespace detail {

// Returns what [run] returns, an R, as a Canonical.
template <class Canonical, class R, class Run>
[[gnu::always_inline]] inline Canonical recastResult(const Run& run) {
  if constexpr (std::is_same_v<R, Canonical>) {
    return run();
  } else {
    return recast<Canonical>(run());
  }
}

// The two adapters of a kernel of type [Function]. [Callee] finds the kernel's own code from the Kernel.
template <class Callee, class Function>
struct Adapters;

template <class Callee, class R, class... Args>
struct Adapters<Callee, R(Args...)> {
  static CanonicalType<R> unboxed(const Kernel* kernel, DispatchKeySet, CanonicalType<Args>... args) {
    return runCountingWrites<Callee, CanonicalType<R>, Args...>(
        [&]() -> CanonicalType<R> {
          return recastResult<CanonicalType<R>, R>(
              [&]() -> R { return Callee::get(kernel)(recast<Args>(static_cast<CanonicalType<Args>&&>(args))...); });
        },
        args...);
  }
  static void boxed(const Kernel* kernel, const OperatorHandle& op, DispatchKeySet, Stack& stack) {
    callWithStack<R, Args...>(
        op, stack,
        [kernel](auto&&... args) -> R {
          return runCountingWrites<Callee, R, Args...>(
              [&]() -> R { return Callee::get(kernel)(static_cast<Args>(args)...); }, args...);
        },
        std::index_sequence_for<Args...>());
  }
};

template <class Callee, class R, class... Args>
struct Adapters<Callee, R(DispatchKeySet, Args...)> {
  static CanonicalType<R> unboxed(const Kernel* kernel, DispatchKeySet keys, CanonicalType<Args>... args) {
    return runCountingWrites<Callee, CanonicalType<R>, Args...>(
        [&]() -> CanonicalType<R> {
          return recastResult<CanonicalType<R>, R>([&]() -> R {
            return Callee::get(kernel)(keys, recast<Args>(static_cast<CanonicalType<Args>&&>(args))...);
          });
        },
        args...);
  }
  static void boxed(const Kernel* kernel, const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
    callWithStack<R, Args...>(
        op, stack,
        [kernel, keys](auto&&... args) -> R {
          return runCountingWrites<Callee, R, Args...>(
              [&]() -> R { return Callee::get(kernel)(keys, static_cast<Args>(args)...); }, args...);
        },
        std::index_sequence_for<Args...>());
  }
};

// The boxed adapter of all kernels of a signature. It goes through the unboxed one, which costs an indirect call. Code
// compiled for size uses it (BOXCAR_SHARE_ADAPTERS).
template <class Canonical>
struct SharedAdapter;

template <class R, class... Args>
struct SharedAdapter<R(Args...)> {
  static void boxed(const Kernel* kernel, const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
    callWithStack<R, Args...>(
        op, stack,
        [kernel, keys](auto&&... args) -> R {
          return static_cast<const UnboxedKernel<R(Args...)>*>(kernel)->unboxed(kernel, keys,
                                                                                static_cast<Args>(args)...);
        },
        std::index_sequence_for<Args...>());
  }
};

template <class Callee, class Function>
constexpr UnboxedKernel<CanonicalFunction<Function>> makeUnboxedKernel() noexcept {
#ifdef BOXCAR_SHARE_ADAPTERS
  return {&Adapters<Callee, Function>::unboxed, &SharedAdapter<CanonicalFunction<Function>>::boxed};
#else
  return {&Adapters<Callee, Function>::unboxed, &Adapters<Callee, Function>::boxed};
#endif
}

// The function is known at compile time, so the kernel needs no state: one constant object.
template <auto* function, WriteCount write_count>
struct StaticCallee {
  static constexpr WriteCount kWriteCount = write_count;
  static constexpr auto* get(const Kernel*) noexcept { return function; }
};
template <class Lambda>
struct StatelessCallee {
  static constexpr WriteCount kWriteCount = kWriteCountOf<Lambda>;
  static Lambda get(const Kernel*) noexcept { return Lambda(); }
};
template <class Callee, class Function>
inline constexpr auto kStatelessKernel = makeUnboxedKernel<Callee, Function>();

// Such a kernel with its signature: all that registration needs.
struct StatelessKernel {
  const Kernel* kernel;
  const CppSignature* signature;
};
template <auto* function, WriteCount write_count = WriteCount::kUnlessCounted>
inline constexpr StatelessKernel kStatelessKernelOf = {
    &kStatelessKernel<StaticCallee<function, write_count>, FunctionType<std::remove_pointer_t<decltype(function)>>>,
    &SignatureOf<CanonicalFunction<FunctionType<std::remove_pointer_t<decltype(function)>>>>::kValue};

// A function pointer known only at run time, or a functor with state. It is stored behind the Kernel as [Held]: the
// functor itself or a pointer to it.
template <class Functor, class Held = Functor>
struct FunctorKernel final : UnboxedKernel<CanonicalFunction<FunctionType<Functor>>> {
  using Function = FunctionType<Functor>;
  struct Callee {
    static Functor& get(const Kernel* kernel) noexcept {
      Held& held = static_cast<const FunctorKernel*>(kernel)->held;
      if constexpr (std::is_same_v<Functor, Held>) {
        return held;
      } else {
        return *held;
      }
    }
  };

  explicit FunctorKernel(Held given)
      : UnboxedKernel<CanonicalFunction<Function>>(makeUnboxedKernel<Callee, Function>()), held(std::move(given)) {}

  mutable Held held;
};

// Boxed kernels may take the stack by reference or, as in c10, by pointer, with or without the key set.
template <class F>
void callBoxedFunction(F& function, const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
  if constexpr (std::is_invocable_v<F&, const OperatorHandle&, DispatchKeySet, Stack*>) {
    function(op, keys, &stack);
  } else if constexpr (std::is_invocable_v<F&, const OperatorHandle&, DispatchKeySet, Stack&>) {
    function(op, keys, stack);
  } else if constexpr (std::is_invocable_v<F&, const OperatorHandle&, Stack*>) {
    function(op, &stack);
  } else {
    static_assert(
        std::is_invocable_v<F&, const OperatorHandle&, Stack&>,
        "a boxed kernel is void(const OperatorHandle&, Stack*) or void(const OperatorHandle&, DispatchKeySet, "
        "Stack*)");
    function(op, stack);
  }
}

template <auto* function>
inline constexpr Kernel kBoxedKernel = {[](const Kernel*, const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
  callBoxedFunction(*function, op, keys, stack);
}};

template <class Functor>
struct BoxedFunctorKernel final : Kernel {
  explicit BoxedFunctorKernel(Functor given)
      : Kernel{[](const Kernel* kernel, const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
          callBoxedFunction(static_cast<const BoxedFunctorKernel*>(kernel)->functor, op, keys, stack);
        }},
        functor(std::move(given)) {}

  mutable Functor functor;
};

// The kernels of table entries that hold no registered function.
extern BOXCAR_API const Kernel kFallthroughKernel;
extern BOXCAR_API const Kernel kMissingKernel;
extern BOXCAR_API const Kernel kMissingMetaKernel;
extern BOXCAR_API const Kernel kAmbiguousAutogradKernel;
extern BOXCAR_API const Kernel kNamedNotSupportedKernel;
extern BOXCAR_API const Kernel kUndefinedOperatorKernel;
extern BOXCAR_API const Kernel kModesKernel;

}  // namespace detail

// A compile-time function as a value: `m.impl("add.Tensor", BOXCAR_FN(add))`. Its kernel needs no state.
template <auto* function>
struct CompileTimeFunction {
  using Type = detail::FunctionType<std::remove_pointer_t<decltype(function)>>;
};
#define BOXCAR_FN(function) (::boxcar::CompileTimeFunction<(function)>())

// A kernel as it is registered, with its C++ signature if it has one. It can also be called directly,
// registered or not. Copies share the kernel's state.
class BOXCAR_API KernelFunction final {
 public:
  // No kernel; it cannot be registered.
  KernelFunction() noexcept = default;

  template <auto* function>
  static KernelFunction makeFromUnboxedFunction(CompileTimeFunction<function>) {
    return KernelFunction(detail::kStatelessKernelOf<function>);
  }
  explicit KernelFunction(const detail::StatelessKernel& kernel) noexcept
      : kernel_(kernel.kernel), signature_(kernel.signature) {}
  template <class R, class... Args>
  static KernelFunction makeFromUnboxedRuntimeFunction(R (*function)(Args...)) {
    return own(std::make_shared<detail::FunctorKernel<R (*)(Args...)>>(function));
  }
  // Takes a lambda or functor object; one without state needs no memory.
  template <class Functor>
  static KernelFunction makeFromUnboxedLambda(Functor functor) {
    using Function = detail::FunctionType<Functor>;
    if constexpr (std::is_empty_v<Functor> && std::is_default_constructible_v<Functor>) {
      return {&detail::kStatelessKernel<detail::StatelessCallee<Functor>, Function>, nullptr,
              &CppSignature::of<Function>(), nullptr};
    } else {
      return own(std::make_shared<detail::FunctorKernel<Functor>>(std::move(functor)));
    }
  }
  // Takes the functor that [functor] points to, which must be a [Functor].
  template <std::derived_from<OperatorKernel> Functor>
  static KernelFunction makeFromUnboxedFunctor(std::unique_ptr<OperatorKernel> functor) {
    checkGiven(functor.get());
    std::unique_ptr<Functor> given(static_cast<Functor*>(functor.release()));
    return own(std::make_shared<detail::FunctorKernel<Functor, std::unique_ptr<Functor>>>(std::move(given)));
  }
  template <auto* function>
  static KernelFunction makeFromBoxedFunction() {
    return {&detail::kBoxedKernel<function>, nullptr, nullptr, nullptr};
  }
  template <class Functor>
  static KernelFunction makeFromBoxedFunctor(Functor functor) {
    auto owner = std::make_shared<detail::BoxedFunctorKernel<Functor>>(std::move(functor));
    const Kernel* kernel = owner.get();
    return {kernel, std::move(owner), nullptr, &detail::PinnedBoxedKernel::make};
  }
  template <class Functor>
  static KernelFunction makeFromBoxedFunctor(std::unique_ptr<Functor> functor) {
    checkGiven(functor.get());
    return makeFromBoxedFunctor(
        [functor = std::move(functor)](const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
          detail::callBoxedFunction(*functor, op, keys, stack);
        });
  }
  // Skips the key that it is registered for, as if nothing were registered there; it never moves a tensor.
  static KernelFunction makeFallthrough() { return {&detail::kFallthroughKernel, nullptr, nullptr, nullptr}; }
  // Throws an Error that names the operator when it gets tensors with named dimensions.
  static KernelFunction makeNamedNotSupported() {
    return {&detail::kNamedNotSupportedKernel, nullptr, nullptr, nullptr};
  }

  // Returns the same kernel for typed callers of another C++ type, which box their arguments. Registration still
  // compares its signature.
  static KernelFunction makeBoxedOnly(const KernelFunction& kernel);

  bool isValid() const noexcept { return kernel_ != nullptr; }
  bool isValidUnboxed() const noexcept { return kernel_ != nullptr && kernel_->has_unboxed; }
  bool isFallthrough() const noexcept { return kernel_ != nullptr && kernel_->kind == KernelKind::Fallthrough; }

  // Calls the kernel itself with C++ arguments, whatever [op]'s table holds. It gets [keys] as its key set and is
  // called on behalf of [op]. Its state lives until the call is over. Throws Error if its C++ type differs.
  template <class R, class... Args>
  R call(const OperatorHandle& op, DispatchKeySet keys, Args... args) const {
    const std::shared_ptr<const Kernel> owner = owner_;
    const Kernel* kernel = kernelToCall(op, CppSignature::of<R(Args...)>());
    if (!kernel->has_unboxed) return detail::boxAndCall<R, Args...>(kernel, op, keys, static_cast<Args&&>(args)...);
    return detail::callUnboxedKernel<R, Args...>(kernel, keys, static_cast<Args&&>(args)...);
  }
  // As above, with the values at the top of [stack], which the results replace.
  void callBoxed(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) const;

  // The kernel itself. For a kernel with state, table entries point to a slot's instead.
  const Kernel* kernel() const noexcept { return kernel_; }
  // Keeps a kernel with state alive; null for others.
  const std::shared_ptr<const Kernel>& owner() const noexcept { return owner_; }
  // Null for boxed kernels.
  const CppSignature* signature() const noexcept { return signature_; }
  // Makes a slot for the kernel's state, to be put into the tables of [entry]; null for kernels without state.
  using MakeSlot = detail::KernelSlot* (*)(const OperatorEntry* entry);
  MakeSlot makeSlot() const noexcept { return make_slot_; }

 private:
  KernelFunction(const Kernel* kernel, std::shared_ptr<const Kernel> owner, const CppSignature* signature,
                 MakeSlot make_slot) noexcept
      : kernel_(kernel), owner_(std::move(owner)), signature_(signature), make_slot_(make_slot) {}

  static void checkGiven(const void* functor);
  const Kernel* kernelToCall(const OperatorHandle& op, const CppSignature& signature) const;

  template <class Owned>
  static KernelFunction own(std::shared_ptr<Owned> owner) {
    const Kernel* kernel = owner.get();
    using Function = typename Owned::Function;
    return {kernel, std::move(owner), &CppSignature::of<Function>(),
            &detail::PinnedKernel<detail::CanonicalFunction<Function>>::make};
  }

  const Kernel* kernel_ = nullptr;
  std::shared_ptr<const Kernel> owner_;
  const CppSignature* signature_ = nullptr;
  MakeSlot make_slot_ = nullptr;
};

}  // namespace boxcar
