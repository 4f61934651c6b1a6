#pragma once

#include <boxcar/dispatcher/boxing.h>
#include <boxcar/dispatcher/canonical_type.h>
#include <boxcar/dispatcher/cpp_signature.h>
#include <boxcar/dispatcher/kernel.h>
#include <boxcar/dispatcher/pinned_kernel.h>
#include <boxcar/ivalue/macros.h>

#include <memory>
#include <type_traits>
#include <typeinfo>
#include <utility>

namespace boxcar {

namespace detail {

// The function type of a function, a function pointer, a functor or a lambda.
template <class F>
struct FunctionTypeOf : FunctionTypeOf<decltype(&F::operator())> {};
template <class R, class... Args>
struct FunctionTypeOf<R(Args...)> : std::type_identity<R(Args...)> {};
template <class R, class... Args>
struct FunctionTypeOf<R(Args...) noexcept> : std::type_identity<R(Args...)> {};
template <class R, class... Args>
struct FunctionTypeOf<R (*)(Args...)> : std::type_identity<R(Args...)> {};
template <class R, class... Args>
struct FunctionTypeOf<R (*)(Args...) noexcept> : std::type_identity<R(Args...)> {};
template <class C, class R, class... Args>
struct FunctionTypeOf<R (C::*)(Args...)> : std::type_identity<R(Args...)> {};
template <class C, class R, class... Args>
struct FunctionTypeOf<R (C::*)(Args...) const> : std::type_identity<R(Args...)> {};
template <class C, class R, class... Args>
struct FunctionTypeOf<R (C::*)(Args...) noexcept> : std::type_identity<R(Args...)> {};
template <class C, class R, class... Args>
struct FunctionTypeOf<R (C::*)(Args...) const noexcept> : std::type_identity<R(Args...)> {};

template <class F>
using FunctionType = typename FunctionTypeOf<F>::type;

// The two adapters of a kernel of type [Function], whose own code is reached from the record through [Callee].
template <class Callee, class Function>
struct Adapters;

template <class Callee, class R, class... Args>
struct Adapters<Callee, R(Args...)> {
  static CanonicalType<R> unboxed(const Kernel* kernel, DispatchKeySet, CanonicalType<Args>... args) {
    return Callee::get(kernel)(recast<Args>(static_cast<CanonicalType<Args>&&>(args))...);
  }
  static void boxed(const Kernel* kernel, const OperatorHandle& op, DispatchKeySet, Stack& stack) {
    callWithStack<R, Args...>(
        op, stack, [kernel](auto&&... args) -> R { return Callee::get(kernel)(static_cast<Args>(args)...); },
        std::index_sequence_for<Args...>());
  }
};

template <class Callee, class R, class... Args>
struct Adapters<Callee, R(DispatchKeySet, Args...)> {
  static CanonicalType<R> unboxed(const Kernel* kernel, DispatchKeySet keys, CanonicalType<Args>... args) {
    return Callee::get(kernel)(keys, recast<Args>(static_cast<CanonicalType<Args>&&>(args))...);
  }
  static void boxed(const Kernel* kernel, const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
    callWithStack<R, Args...>(
        op, stack,
        [kernel, keys](auto&&... args) -> R { return Callee::get(kernel)(keys, static_cast<Args>(args)...); },
        std::index_sequence_for<Args...>());
  }
};

template <class Callee, class Function>
constexpr UnboxedKernel<CanonicalFunction<Function>> makeUnboxedKernel() noexcept {
  return {&Adapters<Callee, Function>::unboxed, &Adapters<Callee, Function>::boxed};
}

// The code is known when the program is compiled, so the record needs no state: one object for ever.
template <auto* function>
struct StaticCallee {
  static constexpr auto* get(const Kernel*) noexcept { return function; }
};
template <class Lambda>
struct StatelessCallee {
  static Lambda get(const Kernel*) noexcept { return Lambda(); }
};
template <class Callee, class Function>
inline constexpr auto kStatelessKernel = makeUnboxedKernel<Callee, Function>();

// A function pointer that is only known at run time, or a functor with state: it lies behind the record.
template <class Functor>
struct FunctorKernel final : UnboxedKernel<CanonicalFunction<FunctionType<Functor>>> {
  using Function = FunctionType<Functor>;
  struct Callee {
    static Functor& get(const Kernel* kernel) noexcept { return static_cast<const FunctorKernel*>(kernel)->functor; }
  };

  explicit FunctorKernel(Functor given)
      : UnboxedKernel<CanonicalFunction<Function>>(makeUnboxedKernel<Callee, Function>()), functor(std::move(given)) {}

  mutable Functor functor;
};

// Boxed kernels may take the stack by reference or, as c10's do, by pointer, and the key set or not.
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

// The records of cells that hold nobody's code.
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

// A kernel as it is registered: its record, and the C++ signature when there is one.
class BOXCAR_API KernelFunction final {
 public:
  // No kernel; it cannot be registered.
  KernelFunction() noexcept = default;

  template <auto* function>
  static KernelFunction makeFromUnboxedFunction(CompileTimeFunction<function>) {
    using Function = typename CompileTimeFunction<function>::Type;
    return {&detail::kStatelessKernel<detail::StaticCallee<function>, Function>, nullptr, &CppSignature::of<Function>(),
            nullptr};
  }
  template <class R, class... Args>
  static KernelFunction makeFromUnboxedRuntimeFunction(R (*function)(Args...)) {
    return ownRecord(std::make_shared<detail::FunctorKernel<R (*)(Args...)>>(function));
  }
  // A lambda or functor object; one without state needs no memory.
  template <class Functor>
  static KernelFunction makeFromUnboxedLambda(Functor functor) {
    using Function = detail::FunctionType<Functor>;
    if constexpr (std::is_empty_v<Functor> && std::is_default_constructible_v<Functor>) {
      return {&detail::kStatelessKernel<detail::StatelessCallee<Functor>, Function>, nullptr,
              &CppSignature::of<Function>(), nullptr};
    } else {
      return ownRecord(std::make_shared<detail::FunctorKernel<Functor>>(std::move(functor)));
    }
  }
  template <auto* function>
  static KernelFunction makeFromBoxedFunction() {
    return {&detail::kBoxedKernel<function>, nullptr, nullptr, nullptr};
  }
  template <class Functor>
  static KernelFunction makeFromBoxedFunctor(Functor functor) {
    auto record = std::make_shared<detail::BoxedFunctorKernel<Functor>>(std::move(functor));
    const Kernel* kernel = record.get();
    return {kernel, std::move(record), nullptr, &detail::PinnedBoxedKernel::make};
  }
  // Skips the key that it is registered for, as if nothing were there; never moves a tensor.
  static KernelFunction makeFallthrough() { return {&detail::kFallthroughKernel, nullptr, nullptr, nullptr}; }
  // Refuses, with a sentence that names the operator, tensors with named dimensions.
  static KernelFunction makeNamedNotSupported() {
    return {&detail::kNamedNotSupportedKernel, nullptr, nullptr, nullptr};
  }

  // The same kernel, for typed callers of another C++ type: they box. Its signature is what registration compares.
  static KernelFunction makeBoxedOnly(const KernelFunction& kernel);

  bool isValid() const noexcept { return kernel_ != nullptr; }
  bool isValidUnboxed() const noexcept { return kernel_ != nullptr && kernel_->has_unboxed; }
  bool isFallthrough() const noexcept { return kernel_ != nullptr && kernel_->kind == KernelKind::Fallthrough; }

  // The kernel itself; tables hold a slot's record instead where it has state.
  const Kernel* record() const noexcept { return kernel_; }
  // Keeps a record with state alive; null for the others.
  const std::shared_ptr<const Kernel>& owner() const noexcept { return owner_; }
  // Null for boxed kernels.
  const CppSignature* signature() const noexcept { return signature_; }
  // Makes a slot for the state of a kernel that has any, to be put into the tables of [entry]; null for the others.
  using MakeSlot = detail::KernelSlot* (*)(const OperatorEntry* entry);
  MakeSlot makeSlot() const noexcept { return make_slot_; }

 private:
  KernelFunction(const Kernel* kernel, std::shared_ptr<const Kernel> owner, const CppSignature* signature,
                 MakeSlot make_slot) noexcept
      : kernel_(kernel), owner_(std::move(owner)), signature_(signature), make_slot_(make_slot) {}

  template <class Record>
  static KernelFunction ownRecord(std::shared_ptr<Record> record) {
    const Kernel* kernel = record.get();
    using Function = typename Record::Function;
    return {kernel, std::move(record), &CppSignature::of<Function>(),
            &detail::PinnedKernel<detail::CanonicalFunction<Function>>::make};
  }

  const Kernel* kernel_ = nullptr;
  std::shared_ptr<const Kernel> owner_;
  const CppSignature* signature_ = nullptr;
  MakeSlot make_slot_ = nullptr;
};

}  // namespace boxcar
