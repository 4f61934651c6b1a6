#pragma once

#include <boxcar/dispatcher/boxing/canonical_type.h>
#include <boxcar/dispatcher/boxing/function_type.h>
#include <boxcar/ivalue/macros.h>
#include <boxcar/schema/function_schema.h>
#include <boxcar/schema/infer_schema.h>

#include <cstddef>
#include <string>
#include <typeinfo>

namespace boxcar {

namespace detail {

template <class Canonical>
struct SignatureOf;

}  // namespace detail

// The C++ type of a kernel or of a typed call, so that the two can be compared. There is one object per type, made at
// compile time; the schema is computed on first use.
class BOXCAR_API CppSignature final {
 public:
  // Returns the signature of a function type `R(Args…)`; a leading DispatchKeySet does not count.
  template <class Function>
  static const CppSignature& of() {
    return detail::SignatureOf<detail::CanonicalFunction<Function>>::kValue;
  }
  // As `of`, but [F] may also be a functor, a lambda's type or a function pointer.
  template <class F>
  static const CppSignature& make() {
    return of<detail::FunctionType<F>>();
  }

  // Copies of a type in two libraries compare equal.
  friend bool operator==(const CppSignature& a, const CppSignature& b) { return *a.type_ == *b.type_; }

  // The type as C++ spells it: `boxcar::Tensor (boxcar::Tensor const&, long)`.
  std::string name() const;
  size_t argumentCount() const noexcept { return arguments_.size(); }
  // The schema that the type implies; its arguments are named _0, _1 …
  const FunctionSchema& schema() const;

 private:
  template <class Canonical>
  friend struct detail::SignatureOf;
  constexpr CppSignature(const std::type_info& type, detail::TypeFunctions arguments,
                         detail::TypeFunctions returns) noexcept
      : type_(&type), arguments_(arguments), returns_(returns) {}

  const std::type_info* type_;
  detail::TypeFunctions arguments_;
  detail::TypeFunctions returns_;
};

// Outside the class, because a member would be exported once per type.
template <class Canonical>
struct detail::SignatureOf {
  static constexpr CppSignature kValue{typeid(Canonical), SignatureTypes<Canonical>::kArguments,
                                       SignatureTypes<Canonical>::kReturns};
};

// Returns the type's name.
inline std::string toString(const CppSignature& signature) { return signature.name(); }

}  // namespace boxcar
