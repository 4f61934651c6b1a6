#pragma once

#include <boxcar/dispatcher/canonical_type.h>
#include <boxcar/dispatcher/function_type.h>
#include <boxcar/ivalue/macros.h>
#include <boxcar/schema/function_schema.h>
#include <boxcar/schema/infer_schema.h>

#include <cstddef>
#include <string>
#include <typeinfo>

namespace boxcar {

namespace detail {

template <class Function>
inline constexpr size_t kArgumentCount = 0;
template <class R, class... Args>
inline constexpr size_t kArgumentCount<R(Args...)> = sizeof...(Args);

}  // namespace detail

// The C++ type of a kernel or of a typed call, so that the two can be compared. One object a type; what it knows of a
// type is computed when it is first asked.
class BOXCAR_API CppSignature final {
 public:
  // The signature of a function type `R(Args…)`; a leading DispatchKeySet does not count.
  template <class Function>
  static const CppSignature& of() {
    using Canonical = detail::CanonicalFunction<Function>;
    static const CppSignature signature(typeid(Canonical), detail::kArgumentCount<Canonical>,
                                        [] { return inferSchema<Canonical>(); });
    return signature;
  }
  // The same, of a functor, a lambda's type or a function pointer, too.
  template <class F>
  static const CppSignature& make() {
    return of<detail::FunctionType<F>>();
  }

  // Two copies of a type, in two libraries, are the same type.
  friend bool operator==(const CppSignature& a, const CppSignature& b) { return *a.type_ == *b.type_; }

  // The type as C++ spells it: `boxcar::Tensor (boxcar::Tensor const&, long)`.
  std::string name() const;
  size_t argumentCount() const noexcept { return argument_count_; }
  // The schema that the type implies; arguments are called _0, _1 …
  const FunctionSchema& schema() const;

 private:
  using Infer = FunctionSchema (*)();
  CppSignature(const std::type_info& type, size_t argument_count, Infer infer) noexcept
      : type_(&type), argument_count_(argument_count), infer_(infer) {}

  const std::type_info* type_;
  size_t argument_count_;
  Infer infer_;
};

// The same sentence everywhere: the type's name.
inline std::string toString(const CppSignature& signature) { return signature.name(); }

}  // namespace boxcar
