#pragma once

#include <boxcar/dispatcher/canonical_type.h>
#include <boxcar/ivalue/macros.h>
#include <boxcar/schema/function_schema.h>
#include <boxcar/schema/infer_schema.h>

#include <string>
#include <typeinfo>

namespace boxcar {

// The C++ type of a kernel or of a typed call, so that the two can be compared. One object a type; what it knows of a
// type is computed when it is first asked.
class BOXCAR_API CppSignature final {
 public:
  // The signature of a function type `R(Args…)`; a leading DispatchKeySet does not count.
  template <class Function>
  static const CppSignature& of() {
    using Canonical = detail::CanonicalFunction<Function>;
    static const CppSignature signature(typeid(Canonical), [] { return inferSchema<Canonical>(); });
    return signature;
  }

  // Two copies of a type, in two libraries, are the same type.
  friend bool operator==(const CppSignature& a, const CppSignature& b) { return *a.type_ == *b.type_; }

  // The type as C++ spells it: `boxcar::Tensor (boxcar::Tensor const&, long)`.
  std::string name() const;
  // The schema that the type implies; arguments are called _0, _1 …
  const FunctionSchema& schema() const;

 private:
  using Infer = FunctionSchema (*)();
  CppSignature(const std::type_info& type, Infer infer) noexcept : type_(&type), infer_(infer) {}

  const std::type_info* type_;
  Infer infer_;
};

// The same sentence everywhere: the type's name.
inline std::string toString(const CppSignature& signature) { return signature.name(); }

}  // namespace boxcar
