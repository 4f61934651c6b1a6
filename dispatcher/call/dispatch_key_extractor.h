#pragma once

#include <boxcar/dispatcher/call/local_dispatch_key_set.h>
#include <boxcar/ivalue/array_ref.h>
#include <boxcar/ivalue/dispatch_key_set.h>
#include <boxcar/ivalue/generator.h>
#include <boxcar/ivalue/list.h>
#include <boxcar/ivalue/stack.h>
#include <boxcar/ivalue/tensor.h>
#include <boxcar/schema/function_schema.h>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace boxcar {

namespace detail {

// Returns the keys of a value whose kind is known only at run time: those of a tensor or a generator, or those of a
// list's elements, through at most [depth] levels of nested lists.
BOXCAR_API DispatchKeySet keysOfValue(const IValue& value, int depth = 1) noexcept;

// Returns how deeply lists nest in an argument of [type] if calls are dispatched on it; -1 otherwise.
BOXCAR_API int listDepthOf(TypePtr type);

// How deeply lists nest in a C++ type whose innermost elements are tensors or generators; -1 for other types.
template <class T>
inline constexpr int kListDepth = -1;
template <>
inline constexpr int kListDepth<Tensor> = 0;
template <>
inline constexpr int kListDepth<Generator> = 0;
template <class T>
inline constexpr int kListDepth<std::optional<T>> = kListDepth<T>;
template <class T>
inline constexpr int kListDepth<std::vector<T>> = kListDepth<T> < 0 ? -1 : kListDepth<T> + 1;
template <class T>
inline constexpr int kListDepth<List<T>> = kListDepth<std::vector<T>>;

// The keys that one C++ argument brings to a call: those of its tensors and generators, also in lists of any depth. The
// contents of an Any, a tuple or a dict bring none, whether the call is boxed or not.
inline DispatchKeySet keysOf(const Tensor& tensor) noexcept { return tensor.key_set(); }
inline DispatchKeySet keysOf(const Generator& generator) noexcept { return generator.key_set(); }
inline DispatchKeySet keysOf(TensorList tensors) noexcept {
  DispatchKeySet keys;
  for (const Tensor& tensor : tensors) keys |= tensor.key_set();
  return keys;
}
template <class T>
constexpr DispatchKeySet keysOf(const T&) noexcept {
  return {};
}
template <class T>
DispatchKeySet keysOf(const ArrayRef<T>& elements) noexcept {
  return keysOf(static_cast<std::span<const T>>(elements));
}
template <class T>
DispatchKeySet keysOf(const List<T>& list) noexcept {
  DispatchKeySet keys;
  if constexpr (std::same_as<T, Tensor>) {
    keys = keysOf(TensorList(list.span()));
  } else if constexpr (kListDepth<T> >= 0) {
    for (const IValue& element : list.span()) keys |= keysOfValue(element, kListDepth<T>);
  }
  return keys;
}
template <class T>
DispatchKeySet keysOf(const std::optional<T>& value) noexcept;
template <class T>
DispatchKeySet keysOf(const std::vector<T>& elements) noexcept {
  DispatchKeySet keys;
  if constexpr (kListDepth<T> >= 0) {
    for (const T& element : elements) keys |= keysOf(element);
  }
  return keys;
}
template <class T>
DispatchKeySet keysOf(const std::optional<T>& value) noexcept {
  return value.has_value() ? keysOf(*value) : DispatchKeySet();
}

}  // namespace detail

// Where the arguments that a boxed call is dispatched on lie on the stack. Immutable: an operator that is redefined
// gets another one, and calls may read either.
struct BOXCAR_API DispatchArguments {
  // The size of a boxed call's arguments on the stack, in bytes.
  size_t bytes;
  // Equals `bytes` if all arguments that are dispatched on are adjacent, as they nearly always are. Larger than any
  // stack if they are not, if there are none, or if there is no schema. So one comparison finds the calls that can take
  // the fast path.
  size_t bytes_of_short_way;
  // The first run of adjacent arguments: its distance below the top of the stack and its length, both in bytes.
  size_t run_from_top = 0;
  size_t run_bytes = 0;
  // How deeply the arguments' lists nest: the search in a list that contains itself stops at this depth.
  int list_depth = 0;
  // The positions, counted from the top, of the arguments outside the first run.
  std::vector<uint16_t> others_from_top = {};

  bool operator==(const DispatchArguments&) const = default;

  // Returns those of [schema]. Operators with equal ones share one object, which is never freed.
  static const DispatchArguments& of(const FunctionSchema& schema);
  // For an operator without a schema: larger than any stack.
  static const DispatchArguments kNone;
};

// Knows, for one operator, which arguments a call is dispatched on and which functionalities it lets through.
class BOXCAR_API DispatchKeyExtractor final {
 public:
  // Finds the tensors and generators of [schema]; without a schema no boxed call is possible.
  void registerSchema(const FunctionSchema& schema) {
    arguments_.store(&DispatchArguments::of(schema), std::memory_order_release);
  }
  void deregisterSchema() noexcept { arguments_.store(&DispatchArguments::kNone, std::memory_order_release); }

  const DispatchArguments& arguments() const noexcept { return *arguments_.load(std::memory_order_acquire); }

  template <class... Args>
  [[gnu::always_inline]] DispatchKeySet getDispatchKeySetUnboxed(const Args&... args) const noexcept {
    return detail::computeDispatchKeySet((DispatchKeySet() | ... | detail::keysOf(args)), nonFallthroughKeys());
  }

  // [stack] must hold at least as many values as the operator has arguments.
  DispatchKeySet getDispatchKeySetBoxed(const Stack& stack) const noexcept {
    return getDispatchKeySetBoxed(arguments(), stack);
  }
  // As above, for callers that have already loaded [arguments] of this operator.
  DispatchKeySet getDispatchKeySetBoxed(const DispatchArguments& arguments, const Stack& stack) const noexcept;
  // As above, if the arguments are one adjacent run.
  DispatchKeySet getDispatchKeySetOfRun(const DispatchArguments& arguments, const Stack& stack) const noexcept {
    uint64_t keys = 0;
    const char* value = reinterpret_cast<const char*>(stack.end()) - arguments.run_from_top;
    const char* const past = value + arguments.run_bytes;
    do {
      const auto& argument = *reinterpret_cast<const IValue*>(value);
      if (argument.isTensor()) [[likely]] {
        keys |= argument.unsafeGet<IValue::Tag::Tensor>().key_set().raw_repr();
      } else {
        keys |= detail::keysOfValue(argument, arguments.list_depth).raw_repr();
      }
      value += sizeof(IValue);
    } while (value != past);
    return detail::computeDispatchKeySet({DispatchKeySet::RAW, keys}, nonFallthroughKeys());
  }

  // The functionalities that at least one table entry of the operator does not let through.
  [[gnu::always_inline]] DispatchKeySet nonFallthroughKeys() const noexcept {
    return {DispatchKeySet::RAW, non_fallthrough_keys_.load(std::memory_order_relaxed)};
  }
  void setNonFallthroughKeys(DispatchKeySet keys) noexcept {
    non_fallthrough_keys_.store(keys.raw_repr(), std::memory_order_relaxed);
  }

 private:
  std::atomic<uint64_t> non_fallthrough_keys_{~uint64_t{0}};
  std::atomic<const DispatchArguments*> arguments_{&DispatchArguments::kNone};
};

}  // namespace boxcar
