#pragma once

#include <boxcar/ivalue/dispatch_key_set.h>
#include <boxcar/ivalue/stack.h>

#include <cstdint>

namespace boxcar {

class OperatorHandle;

enum class KernelKind : uint8_t {
  Function,           // somebody's code
  Fallthrough,        // goes on to the next key
  Missing,            // nothing was registered: explains
  AmbiguousAutograd,  // CompositeImplicitAutograd and a backend kernel both claim AutogradOther: explains
  NamedNotSupported,  // refuses tensors with named dimensions
  Modes,              // runs the modes of the thread, from the innermost out
  UndefinedOperator,  // the operator has no schema (any more): explains
};

// What a cell of an operator's table points to. Callers pass the record itself first, so that one adapter function
// serves every kernel of a signature and finds its state behind the record.
struct Kernel {
  using BoxedFunction = void (*)(const Kernel*, const OperatorHandle&, DispatchKeySet, Stack&);

  // Takes the arguments off the stack and puts the results there. Never null.
  BoxedFunction boxed;
  KernelKind kind = KernelKind::Function;
  // Whether this is the base of an UnboxedKernel; a typed caller boxes its arguments where it is not.
  bool has_unboxed = false;

  constexpr bool isFallthrough() const noexcept { return kind == KernelKind::Fallthrough; }
};

// The record of a kernel that can be called without boxing. [Function] is its type in canonical types (SymInt as
// int64_t, no DispatchKeySet); an operator's kernels and typed handles all have the same one, which registration
// checks.
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
