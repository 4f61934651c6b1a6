#pragma once

#include <boxcar/dispatcher/boxing/kernel_function.h>
#include <boxcar/ivalue/dispatch_key_set.h>
#include <boxcar/ivalue/stack.h>

#include <type_traits>
#include <utility>

// Kernels that may write over what a boxed call hands over (native/last_reference.h). A typed call only lends its
// arguments, so the boxed form is a function of its own.

namespace boxcar::composite {

// A kernel that is [function] for typed calls and [boxed], a Kernel::BoxedFunction, for boxed ones.
template <auto* function, Kernel::BoxedFunction boxed>
class TwoForms final {
  using Function = ::boxcar::detail::FunctionType<std::remove_pointer_t<decltype(function)>>;
  using Canonical = ::boxcar::detail::CanonicalFunction<Function>;
  using Callee = ::boxcar::detail::StaticCallee<function, WriteCount::kUnlessCounted>;
  static constexpr UnboxedKernel<Canonical> kForms{&::boxcar::detail::Adapters<Callee, Function>::unboxed, boxed};

 public:
  static constexpr ::boxcar::detail::StatelessKernel kKernel{&kForms,
                                                             &::boxcar::detail::SignatureOf<Canonical>::kValue};
};

// Replaces the arguments at the top of [stack] by what [function] returns, which also gets [first].
template <class First, class R, class... Args>
void callOnStack(R (*function)(First, Args...), First first, const OperatorHandle& op, Stack& stack) {
  ::boxcar::detail::callWithStack<R, Args...>(
      op, stack, [&](auto&&... args) -> R { return function(first, static_cast<Args>(args)...); },
      std::index_sequence_for<Args...>());
}

}  // namespace boxcar::composite
