#pragma once

#include <boxcar/dispatcher/registry/operator_handle.h>
#include <boxcar/ivalue/macros.h>

#include <atomic>
#include <cstdint>
#include <type_traits>

namespace boxcar {

namespace detail {

class BOXCAR_API OperatorReference {
 protected:
  constexpr OperatorReference(const char* name, const char* overload, const char* file, uint32_t line) noexcept
      : name_(name), overload_(overload), file_(file), line_(line) {}

  [[gnu::always_inline]] OperatorEntry* entry(const CppSignature& signature) {
    OperatorEntry* found = entry_.load(std::memory_order_acquire);
    return found != nullptr ? found : find(signature);
  }

 private:
  [[gnu::cold]] OperatorEntry* find(const CppSignature& signature);

  std::atomic<OperatorEntry*> entry_{nullptr};
  const char* name_;
  const char* overload_;
  const char* file_;
  uint32_t line_;
};

template <class T>
using PassedType =
    std::conditional_t<std::is_reference_v<T> || (std::is_trivially_copyable_v<T> && sizeof(T) <= 16), T, T&&>;

}  // namespace detail

// An operator known by its name, for constant-initialised variables: it is looked up on first use. Names and file names
// must live as long as the program. Leave out [file] and [line]: they default to the place of the declaration.
//
//   constinit DeclaredOperator<Tensor(const Tensor&)> negative("aten::neg", "");
//   Tensor result = negative.call(x);
template <class Function>
class DeclaredOperator;

template <class R, class... Args>
class DeclaredOperator<R(Args...)> final : detail::OperatorReference {
 public:
  constexpr DeclaredOperator(const char* name, const char* overload, const char* file = __builtin_FILE(),
                             uint32_t line = __builtin_LINE()) noexcept
      : OperatorReference(name, overload, file, line) {}

  // Throws Error if there is no such operator (yet), or if it has another type.
  TypedOperatorHandle<R(Args...)> get() {
    return TypedOperatorHandle<R(Args...)>(OperatorHandle(entry(CppSignature::of<R(Args...)>())));
  }

  // Like the handle's call and redispatch, but one function serves all operators of a type, which costs a jump.
  // Arguments that are not references and larger than a word or two are moved from.
  [[gnu::noinline]] R call(detail::PassedType<Args>... args) { return get().call(static_cast<Args&&>(args)...); }
  [[gnu::noinline]] R redispatch(DispatchKeySet keys, detail::PassedType<Args>... args) {
    return get().redispatch(keys, static_cast<Args&&>(args)...);
  }
};

}  // namespace boxcar
