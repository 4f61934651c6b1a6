#include <boxcar/interpreter/cli/bench/calls.h>

#include <array>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

namespace boxcar::cli {
namespace {

[[gnu::noinline]] Tensor noOp(const Tensor& a, const Tensor& b) {
  asm volatile("" : : "r"(&a), "r"(&b) : "memory");
  return a;
}

template <size_t... I>
[[gnu::noinline]] void callBoxed(OperatorHandle op, const IValue* arguments, long count, std::index_sequence<I...>) {
  Stack stack;
  for (long i = 0; i < count; ++i) {
    stack.emplace(arguments[I]...);
    op.callBoxed(stack);
    while (!stack.empty()) stack.pop_back();
  }
}

[[gnu::noinline]] void callBoxedWithMany(OperatorHandle op, const std::vector<IValue>& arguments, long count) {
  Stack stack;
  for (long i = 0; i < count; ++i) {
    stack.insert(stack.end(), arguments.begin(), arguments.end());
    op.callBoxed(stack);
    while (!stack.empty()) stack.pop_back();
  }
}

// The number of pushes is a compile-time constant up to this many; for more it hardly matters.
constexpr size_t kMostPushes = 8;
using BoxedFunction = void (*)(OperatorHandle, const IValue*, long);
template <size_t... N>
constexpr std::array<BoxedFunction, sizeof...(N)> makeBoxedFunctions(std::index_sequence<N...>) {
  return {[](OperatorHandle op, const IValue* arguments, long count) {
    callBoxed(op, arguments, count, std::make_index_sequence<N>());
  }...};
}
constexpr auto kBoxedFunctions = makeBoxedFunctions(std::make_index_sequence<kMostPushes + 1>());

template <class Function>
struct LoopsOf;

template <class R, class... Args>
struct LoopsOf<R(Args...)> {
  using Handle = TypedOperatorHandle<R(Args...)>;

  [[gnu::noinline]] static void callTyped(Handle op, long count, Args... args) {
    for (long i = 0; i < count; ++i) static_cast<void>(op.call(static_cast<Args>(args)...));
  }
  [[gnu::noinline]] static void callDirect(const Kernel* kernel, DispatchKeySet keys, long count, Args... args) {
    for (long i = 0; i < count; ++i) {
      static_cast<void>(detail::callUnboxedKernel<R, Args...>(kernel, keys, static_cast<Args>(args)...));
    }
  }

  // Calls [function] with the contents of [values], borrowed like a kernel's arguments.
  template <class F, size_t... I>
  static void withArguments(std::vector<IValue>& values, F&& function, std::index_sequence<I...>) {
    std::tuple<detail::BorrowedArgument<Args>...> borrowed(values[I]...);
    function(std::get<I>(borrowed).get()...);
  }

  static bool fits(const FunctionSchema& schema) {
    const FunctionSchema& implied = CppSignature::of<R(Args...)>().schema();
    const auto same = [](const Argument& a, const Argument& b) {
      return a.type() == b.type() && a.is_write() == b.is_write();
    };
    return std::ranges::equal(implied.arguments(), schema.arguments(), same) &&
           std::ranges::equal(implied.returns(), schema.returns(), same);
  }

  static TypedLoops make(OperatorHandle op, const std::vector<IValue>& arguments) {
    const Handle handle = op.typed<R(Args...)>();
    const auto values = std::make_shared<std::vector<IValue>>(arguments);
    TypedLoops loops;
    loops.typed = [handle, values](long count) {
      withArguments(
          *values, [&](auto&&... args) { callTyped(handle, count, static_cast<Args>(args)...); },
          std::index_sequence_for<Args...>());
    };
    const auto keys = [handle](const auto&... args) {
      return handle.entry().dispatchKeyExtractor().getDispatchKeySetUnboxed(args...);
    };
    const Kernel* kernel = nullptr;
    withArguments(
        *values, [&](auto&&... args) { kernel = handle.entry().lookup(keys(args...)); },
        std::index_sequence_for<Args...>());
    if (!kernel->has_unboxed) return loops;
    loops.direct = [kernel, keys, values](long count) {
      withArguments(
          *values, [&](auto&&... args) { callDirect(kernel, keys(args...), count, static_cast<Args>(args)...); },
          std::index_sequence_for<Args...>());
    };
    return loops;
  }
};

// Returns the loops of the first of [Functions] that is the operator's type.
template <class... Functions>
TypedLoops findLoops(OperatorHandle op, const std::vector<IValue>& arguments) {
  const CppSignature* signature = op.entry().cppSignature();
  TypedLoops loops;
  static_cast<void>(
      (((signature != nullptr ? *signature == CppSignature::of<Functions>() : LoopsOf<Functions>::fits(op.schema())) &&
        (loops = LoopsOf<Functions>::make(op, arguments), true)) ||
       ...));
  return loops;
}

using T = const Tensor&;
using S = const Scalar&;
using Ints = std::span<const int64_t>;
using MaybeT = const std::optional<Tensor>&;
using MaybeType = std::optional<ScalarType>;

}  // namespace

CallLoop boxedLoop(OperatorHandle op, const std::vector<IValue>& arguments) {
  if (arguments.size() > kMostPushes) {
    return [op, arguments](long count) { callBoxedWithMany(op, arguments, count); };
  }
  return [op, arguments](long count) { kBoxedFunctions[arguments.size()](op, arguments.data(), count); };
}

TypedLoops typedLoops(OperatorHandle op, const std::vector<IValue>& arguments) {
  return findLoops<Tensor(T), Tensor(T, T), Tensor(T, T, T), Tensor(T, S), Tensor(T, T, S), Tensor(T, S, S),
                   Tensor(T, T, T, S, S), Tensor(T, int64_t), Tensor(T, int64_t, int64_t), Tensor(T, Ints),
                   Tensor(T, bool), Tensor(T, T, MaybeT), Tensor(T, MaybeType), Tensor(T, int64_t, MaybeType),
                   Tensor(T, std::optional<Ints>, bool, MaybeType), Tensor(T, int64_t, bool), Tensor&(Tensor&),
                   Tensor&(Tensor&, T), Tensor&(Tensor&, S), Tensor&(Tensor&, T, S), Tensor&(Tensor&, S, S),
                   Tensor(TensorList), Tensor(TensorList, int64_t)>(op, arguments);
}

KernelFunction noOpKernel() { return KernelFunction::makeFromUnboxedFunction(BOXCAR_FN(noOp)); }

CallLoop directNoOpLoop(const Tensor& a, const Tensor& b) {
  return [a, b](long count) {
    for (long i = 0; i < count; ++i) static_cast<void>(noOp(a, b));
  };
}

}  // namespace boxcar::cli
