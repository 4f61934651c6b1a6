#pragma once

#include <boxcar/ivalue/scalar.h>
#include <boxcar/ivalue/tensor.h>

namespace boxcar::meta {

// The dtype of floating-point results if no operand decides otherwise.
inline constexpr ScalarType kDefaultDtype = ScalarType::Float;

// Computes the type that an operator computes in, by PyTorch's rules: tensors with dimensions decide. Tensors without
// dimensions, and then numbers, bare or wrapped in a tensor, matter only if they raise the category (bool, integral,
// floating, complex).
//
//   TypePromotion types;
//   types.add(tensor);   // int32, of sizes [3]
//   types.add(Scalar(1.5));
//   types.result();      // float32
class TypePromotion {
 public:
  void add(const Tensor& tensor) {
    if (tensor.unsafeGetTensorImpl()->is_wrapped_number()) return merge(numbers_, numberType(tensor.scalar_type()));
    ScalarType& category = tensor.dim() > 0 ? dimensioned_ : zero_dimensional_;
    merge(category, tensor.scalar_type());
  }
  void add(const Scalar& number) { merge(numbers_, numberType(number.type())); }

  ScalarType result() const { return combine(dimensioned_, combine(zero_dimensional_, numbers_)); }

 private:
  static ScalarType numberType(ScalarType type) {
    if (isFloatingType(type)) return kDefaultDtype;
    return isComplexType(type) ? toComplexType(kDefaultDtype) : type;
  }
  static void merge(ScalarType& category, ScalarType type) {
    if (category != type) category = category == ScalarType::Undefined ? type : promoteTypes(category, type);
  }
  static ScalarType combine(ScalarType higher, ScalarType lower) {
    if (lower == ScalarType::Undefined || isComplexType(higher)) return higher;
    if (higher == ScalarType::Undefined) return lower;
    if (isFloatingType(higher)) return isComplexType(lower) ? toComplexType(higher) : higher;
    const bool raises = higher == ScalarType::Bool || isFloatingType(lower) || isComplexType(lower);
    return raises ? promoteTypes(higher, lower) : higher;
  }

  ScalarType dimensioned_ = ScalarType::Undefined;
  ScalarType zero_dimensional_ = ScalarType::Undefined;
  ScalarType numbers_ = ScalarType::Undefined;
};

// Returns float32 for integers and bool; other types are returned unchanged.
constexpr ScalarType toFloatingType(ScalarType type) {
  return isIntegralType(type, /*includeBool=*/true) ? kDefaultDtype : type;
}

}  // namespace boxcar::meta
