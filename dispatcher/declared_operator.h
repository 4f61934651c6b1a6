#pragma once

#include <boxcar/dispatcher/operator_handle.h>
#include <boxcar/ivalue/macros.h>

#include <atomic>
#include <cstdint>

namespace boxcar {

namespace detail {

class BOXCAR_API OperatorReference {
 protected:
  constexpr OperatorReference(const char* name, const char* overload, const char* file, uint32_t line) noexcept
      : name_(name), overload_(overload), file_(file), line_(line) {}

  OperatorEntry* entry(const CppSignature& signature) {
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

}  // namespace detail

// An operator that is known by its name, to be a variable that is initialised before the program runs: it is looked up
// when it is first used. Names and places must live as long as the program. Nobody gives [file] and [line], where it
// stands.
//
//   constinit DeclaredOperator<Tensor(const Tensor&)> negative("aten::neg", "");
//   Tensor result = negative.get().call(x);
template <class Function>
class DeclaredOperator final : detail::OperatorReference {
 public:
  constexpr DeclaredOperator(const char* name, const char* overload, const char* file = __builtin_FILE(),
                             uint32_t line = __builtin_LINE()) noexcept
      : OperatorReference(name, overload, file, line) {}

  // An Error when there is no such operator (yet), or one of another type.
  TypedOperatorHandle<Function> get() {
    return TypedOperatorHandle<Function>(OperatorHandle(entry(CppSignature::of<Function>())));
  }
};

}  // namespace boxcar
