#pragma once

#include <boxcar/dispatcher/boxing/borrowed_argument.h>
#include <boxcar/dispatcher/boxing/canonical_type.h>
#include <boxcar/dispatcher/boxing/kernel.h>
#include <boxcar/ivalue/stack.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

namespace boxcar::detail {

// Borrows one of this thread's stacks for one boxed call. Stacks keep their memory for the next call, so boxing does
// not allocate.
class BOXCAR_API StackLease final {
 public:
  struct Node {
    Stack stack;
    Node* next = nullptr;
  };

  StackLease() : node_(free_nodes) {
    if (node_ == nullptr) [[unlikely]]
      node_ = makeNode();
    free_nodes = node_->next;
  }
  ~StackLease() {
    if (!node_->stack.empty()) [[unlikely]]
      node_->stack.clear();
    node_->next = free_nodes;
    free_nodes = node_;
  }
  StackLease(const StackLease&) = delete;
  StackLease& operator=(const StackLease&) = delete;

  Stack& operator*() noexcept { return node_->stack; }

 private:
  // The free nodes of this thread, as many as calls were ever nested.
  static constinit thread_local Node* free_nodes __attribute__((tls_model("initial-exec")));
  static Node* makeNode();

  Node* node_;
};

// Throws the Error for a boxed call whose arguments are not what the kernel takes. It names the operator, the argument,
// its position, what was expected and what was found. [wrong] is the position of the first argument that does not
// match.
[[noreturn, gnu::cold]] BOXCAR_API void failMistypedArgument(const OperatorHandle& op, const Stack& stack, size_t count,
                                                             size_t wrong);
// As above, for the first argument that its matcher in [matchers] (one per argument) rejects.
using ArgumentMatcher = bool (*)(const IValue&);
[[noreturn, gnu::cold]] BOXCAR_API void failMistypedArgument(const OperatorHandle& op, const Stack& stack,
                                                             std::span<const ArgumentMatcher> matchers);
template <class... Args>
BOXCAR_HIDDEN inline constexpr std::array<ArgumentMatcher, sizeof...(Args)> kMatchers{
    &BorrowedArgument<Args>::matches...};

// Throws the Error for a kernel that takes [count] arguments but finds fewer values on the stack.
[[noreturn, gnu::cold]] BOXCAR_API void failArgumentsMissing(const OperatorHandle& op, const Stack& stack,
                                                             size_t count);

// Throws Error if a typed call passes [given] arguments but the operator takes another number.
BOXCAR_API void checkArgumentCount(const OperatorHandle& op, size_t given);

// Rethrows the exception that came out of a kernel: an Error as it is, any other exception as an Error that names the
// operator. Call it in a catch clause.
[[noreturn, gnu::cold]] BOXCAR_API void rethrowAsError(const OperatorHandle& op);

// --- An unboxed caller and an unboxed kernel.

// Calls [kernel], an UnboxedKernel of this type in canonical types.
template <class R, class... Args>
[[gnu::always_inline]] inline R callUnboxedKernel(const Kernel* kernel, DispatchKeySet keys, Args&&... args) {
  const auto* typed = static_cast<const UnboxedKernel<CanonicalType<R>(CanonicalType<Args>...)>*>(kernel);
  if constexpr (std::is_same_v<R, CanonicalType<R>>) {
    return typed->unboxed(kernel, keys, recast<CanonicalType<Args>>(static_cast<Args&&>(args))...);
  } else {
    return recast<R>(typed->unboxed(kernel, keys, recast<CanonicalType<Args>>(static_cast<Args&&>(args))...));
  }
}

// --- A boxed caller and an unboxed kernel.

// Puts [results] in place of [count] destroyed arguments, which begin at [args].
template <size_t count, class... Results>
[[gnu::always_inline]] inline void replaceDestroyed(Stack& stack, IValue* args, Results&&... results) {
  if constexpr (sizeof...(Results) <= count) {
    stack.replaceDestroyed(args, std::move(results)...);
  } else {
    stack.dropDestroyed(args);
    (stack.emplace_back(std::move(results)), ...);
  }
}

// Whether a kernel of this type returns a tensor that can trade places with its first argument.
template <class R, class... Args>
constexpr bool returnsOverFirst() {
  if constexpr (sizeof...(Args) == 0) {
    return false;
  } else {
    using First = std::tuple_element_t<0, std::tuple<Args...>>;
    return std::is_same_v<R, Tensor> && std::is_same_v<std::remove_cvref_t<First>, Tensor>;
  }
}

// Calls invoke(args…) with the arguments at the top of the stack and replaces them by the results. If it throws, the
// stack is unchanged.
template <class R, class... Args, class Invoke, size_t... I>
[[gnu::always_inline]] inline void callWithStack(const OperatorHandle& op, Stack& stack, Invoke&& invoke,
                                                 std::index_sequence<I...>) {
  IValue* const args = stack.end() - sizeof...(Args);
  // Callers have checked this, but a handler may have consumed arguments, or the operator may have been redefined.
  if (reinterpret_cast<uintptr_t>(args) < reinterpret_cast<uintptr_t>(stack.begin())) [[unlikely]]
    failArgumentsMissing(op, stack, sizeof...(Args));
  if (!(BorrowedArgument<Args>::matches(args[I]) && ...)) [[unlikely]]
    failMistypedArgument(op, stack, kMatchers<Args...>);
  // The results are made before the arguments are destroyed: a result may refer to an argument, and making a result may
  // throw.
  const auto destroyArguments = [args] {
    (void)args;  // there may be none
    (BorrowedArgument<Args>::destroy(args[I]), ...);
  };
  try {
    if constexpr (std::is_void_v<R>) {
      invoke(BorrowedArgument<Args>(args[I]).get()...);
      destroyArguments();
      stack.dropDestroyed(args);
    } else if constexpr (kIsTuple<R>) {
      const auto replace = [&](auto... values) {
        destroyArguments();
        replaceDestroyed<sizeof...(Args)>(stack, args, std::move(values)...);
      };
      std::apply([&](auto&&... results) { replace(IValue(static_cast<decltype(results)>(results))...); },
                 invoke(BorrowedArgument<Args>(args[I]).get()...));
    } else if constexpr (returnsOverFirst<R, Args...>()) {
      // The tag stays, no moved-from tensor is destroyed, and the stack is whole before the arguments go.
      Tensor result = invoke(BorrowedArgument<Args>(args[I]).get()...);
      result.swap(args[0].template unsafeGet<Tag::Tensor>());
      stack.dropDestroyed(args + 1);
      ((I == 0 ? void() : BorrowedArgument<Args>::destroy(args[I])), ...);
    } else {
      IValue result(invoke(BorrowedArgument<Args>(args[I]).get()...));
      destroyArguments();
      replaceDestroyed<sizeof...(Args)>(stack, args, std::move(result));
    }
  } catch (...) {
    rethrowAsError(op);
  }
}

// Out of line, one function per type: code that rarely runs should be small.
template <class T>
[[gnu::noinline]] void pushOne(Stack& stack, const T& value) {
  stack.emplace_back(value);
}

// Pushes what a kernel returned onto [stack]: each element of a tuple, or one result of any other type.
template <class R>
void pushResults(Stack& stack, const R& results) {
  if constexpr (kIsTuple<R>) {
    std::apply([&](const auto&... values) { (pushOne(stack, values), ...); }, results);
  } else {
    pushOne(stack, results);
  }
}

// --- An unboxed caller and a boxed kernel.

// Returns the [index]-th Tensor& argument. The [index]-th Tensor& among the results of an in-place or out operator
// refers to it.
template <size_t index, class First, class... Rest>
Tensor& writtenArgument(std::remove_reference_t<First>& first, std::remove_reference_t<Rest>&... rest) {
  constexpr bool is_written = std::is_same_v<First, Tensor&>;
  if constexpr (is_written && index == 0) {
    return first;
  } else {
    static_assert(sizeof...(Rest) != 0, "each Tensor& that an operator returns is one of its Tensor& arguments");
    return writtenArgument < is_written ? index - 1 : index, Rest... > (rest...);
  }
}

[[noreturn, gnu::cold]] BOXCAR_API void failResultCount(const OperatorHandle& op, size_t expected, size_t found);
// [wrong] is the position of the first result on the stack that has the wrong type.
[[noreturn, gnu::cold]] BOXCAR_API void failMistypedResult(const OperatorHandle& op, const Stack& stack, size_t wrong);

template <class T>
T takeValue(IValue& value) {
  if constexpr (std::is_same_v<T, Tensor>) {
    return std::move(value).toTensor();
  } else if constexpr (std::is_same_v<T, IValue>) {
    return std::move(value);
  } else {
    return value.to<T>();
  }
}

// Converts what a boxed kernel left on [stack], which holds nothing else, to the C++ result of a call with [args] of
// types Args. `countMatching` is how many of the kCount results match their types before the first that does not.
template <class R>
struct UnboxedResult {
  static constexpr size_t kCount = 1;
  static size_t countMatching(const Stack& stack) { return BorrowedValue<R>::matches(stack[0]); }
  template <class... Args>
  static R take(Stack& stack, std::remove_reference_t<Args>&...) {
    R result = takeValue<R>(stack[0]);
    // Cheaper here, where its type is known, than by the lease. A tensor that was moved from holds nothing.
    if constexpr (std::is_same_v<R, Tensor>) {
      stack.dropDestroyed(stack.begin());
    } else {
      stack.pop_back();
    }
    return result;
  }
};
template <>
struct UnboxedResult<void> {
  static constexpr size_t kCount = 0;
  static size_t countMatching(const Stack&) { return 0; }
  template <class... Args>
  static void take(Stack&, std::remove_reference_t<Args>&...) {}
};
template <>
struct UnboxedResult<Tensor&> {
  static constexpr size_t kCount = 1;
  static size_t countMatching(const Stack& stack) { return stack[0].isTensor(); }
  template <class... Args>
  static Tensor& take(Stack&, std::remove_reference_t<Args>&... args) {
    return writtenArgument<0, Args...>(args...);
  }
};
template <class... Ts>
struct UnboxedResult<std::tuple<Ts...>> {
  static constexpr size_t kCount = sizeof...(Ts);
  static size_t countMatching(const Stack& stack) {
    size_t count = 0;
    static_cast<void>(((BorrowedValue<std::remove_cvref_t<Ts>>::matches(stack[count]) && (++count, true)) && ...));
    return count;
  }
  template <class... Args>
  static std::tuple<Ts...> take(Stack& stack, std::remove_reference_t<Args>&... args) {
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return std::tuple<Ts...>(takeElement<Ts, I, Args...>(stack, args...)...);
    }
    (std::index_sequence_for<Ts...>());
  }

 private:
  // Returns how many of the results before [index] are references.
  static constexpr size_t referencesBefore(size_t index) {
    const bool is_reference[] = {std::is_lvalue_reference_v<Ts>..., false};
    size_t count = 0;
    for (size_t i = 0; i < index; ++i) count += is_reference[i];
    return count;
  }
  template <class T, size_t index, class... Args>
  static T takeElement(Stack& stack, std::remove_reference_t<Args>&... args) {
    if constexpr (std::is_lvalue_reference_v<T>) {
      return writtenArgument<referencesBefore(index), Args...>(args...);
    } else {
      return takeValue<T>(stack[index]);
    }
  }
};

// Calls [kernel]'s boxed function for a typed caller.
template <class R, class... Args>
[[gnu::always_inline]] inline R boxAndCall(const Kernel* kernel, const OperatorHandle& op, DispatchKeySet keys,
                                           Args&&... args) {
  StackLease lease;
  Stack& stack = *lease;
#ifdef BOXCAR_SHARE_ADAPTERS
  (pushOne(stack, args), ...);
#else
  stack.emplace(args...);
#endif
  kernel->boxed(kernel, op, keys, stack);
  if (!stack.holdsExactly(UnboxedResult<R>::kCount)) [[unlikely]]
    failResultCount(op, UnboxedResult<R>::kCount, stack.size());
  if (const size_t matching = UnboxedResult<R>::countMatching(stack); matching != UnboxedResult<R>::kCount) [[unlikely]]
    failMistypedResult(op, stack, matching);
  return UnboxedResult<R>::template take<Args...>(stack, args...);
}

}  // namespace boxcar::detail
