#pragma once

#include <boxcar/ivalue/dispatch_key_set.h>
#include <boxcar/ivalue/stack.h>

#include <cstdint>

namespace boxcar {

class OperatorHandle;

enum class KernelKind : uint8_t {
  Function,           // a registered function
  Fallthrough,        // goes on to the next key
  Missing,            // nothing is registered: throws an Error that explains
  AmbiguousAutograd,  // CompositeImplicitAutograd and a backend kernel both claim AutogradOther: throws
  NamedNotSupported,  // refuses tensors with named dimensions
  Modes,              // runs the modes of the thread, innermost first
  UndefinedOperator,  // the operator has no schema (any more): throws
};

// What a table entry points to. Callers pass the Kernel itself as the first argument, so one adapter function serves
// every kernel of a signature and finds the state in the object that the Kernel is the base of.
struct Kernel {
  using BoxedFunction = void (*)(const Kernel*, const OperatorHandle&, DispatchKeySet, Stack&);

  // Pops the arguments and pushes the results. Never null.
  BoxedFunction boxed;
  KernelKind kind = KernelKind::Function;
  // Whether this is the base of an UnboxedKernel. If not, a typed caller boxes its arguments.
  bool has_unboxed = false;

  constexpr bool isFallthrough() const noexcept { return kind == KernelKind::Fallthrough; }
};

// A kernel that can be called without boxing. [Function] is its type in canonical types (SymInt as
// int64_t, no DispatchKeySet). All kernels and typed handles of an operator have the same one; registration checks
// this.
template <class Function>
struct UnboxedKernel;

template <class R, class... Args>
struct UnboxedKernel<R(Args...)> : Kernel {
  using UnboxedFunction = R (*)(const Kernel*, DispatchKeySet, Args...);

  constexpr UnboxedKernel(UnboxedFunction unboxed_function, BoxedFunction boxed_function) noexcept
      : Kernel{boxed_function, KernelKind::Function, true}, unboxed(unboxed_function) {}

  UnboxedFunction unboxed;
};

}  // namespace boxcar
