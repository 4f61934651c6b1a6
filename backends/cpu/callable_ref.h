#pragma once

#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

namespace boxcar::cpu {

// A non-owning reference to a callable that the caller keeps alive. It is two words in size and needs no generated code
// per callable except the call itself. Use it only for parameters, which do not outlive their call.
template <class Signature>
class CallableRef;

template <class Result, class... Args>
class CallableRef<Result(Args...)> final {
 public:
  template <class Callable>
  requires(!std::same_as<std::remove_cvref_t<Callable>, CallableRef> && std::invocable<Callable&, Args...>)
      CallableRef(Callable&& callable)
      : callable_(const_cast<void*>(static_cast<const void*>(std::addressof(callable)))),
        call_([](void* object, Args... args) -> Result {
          return (*static_cast<std::remove_reference_t<Callable>*>(object))(std::forward<Args>(args)...);
        }) {}

  Result operator()(Args... args) const { return call_(callable_, std::forward<Args>(args)...); }

 private:
  void* callable_;
  Result (*call_)(void*, Args...);
};

}  // namespace boxcar::cpu
