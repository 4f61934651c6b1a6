#pragma once

#include <boxcar/ivalue/ivalue.h>
#include <boxcar/ivalue/macros.h>
#include <boxcar/schema/argument.h>
#include <boxcar/schema/type.h>

#include <cstdint>
#include <optional>

namespace boxcar::interp {

// The cost of passing a value as a parameter's type, from cheapest to most expensive. A conversion of several steps
// costs as much as its most expensive step.
enum class ConversionCost : uint8_t {
  Same,
  ToSymInt,        // int -> SymInt
  Widening,        // bool -> int, int -> float
  ToScalar,        // a number to Scalar
  ToOptional,      // T -> T?, T -> Any
  IntToList,       // one int to int[N]
  ToFloatList,     // int[] -> float[]
  CheckedList,     // a tuple or a list of Any to the list type
  ToDevice,        // str -> Device
  FromScalar,      // Scalar -> int, Scalar -> float
  NumberToTensor,  // a number to a 0-dim tensor
  FromAny,         // decided at run time; compile time only
};

// What a value is converted to: a type, the length of the list that one int expands to (0 if it may not), and whether a
// number may become a Tensor.
struct ConversionTarget {
  TypePtr type = nullptr;
  int32_t list_size = 0;
  bool beside_tensor = false;

  friend bool operator==(const ConversionTarget&, const ConversionTarget&) = default;
};

// Returns the conversion target of [parameter] in a call of operators.
inline ConversionTarget targetOf(const Argument& parameter) {
  return {parameter.type(), parameter.N().value_or(0), false};
}

// Where the types of a call's arguments come from.
enum class TypesFrom : uint8_t {
  kProgram,      // the compiler: some may be Any
  kValues,       // typeOf: every type is known, and a dtype is an int
  kTypedValues,  // a caller who also tells dtypes and the like from ints
};

// What a conversion may assume about the call that it belongs to.
struct ConversionContext {
  bool beside_tensor = false;  // another argument is a Tensor, so a number may become one
  TypesFrom types = TypesFrom::kProgram;
};

// Returns the cost of passing a value of type [from] as [target]; nothing if it cannot be passed.
std::optional<ConversionCost> conversionCost(TypePtr from, ConversionTarget target, ConversionContext context);

// Whether a value of type [from] is passed as [to] unchanged, so that convertValue has nothing to do.
BOXCAR_API bool isSameRepresentation(TypePtr from, TypePtr to);

// Converts a value to [target]: allows what conversionCost allows, decided by the value. Throws Error, such as
// "expected int[], found str", if it cannot. All conversions go through here, in compiled code and in calls that are
// resolved at run time.
BOXCAR_API IValue convertValue(IValue value, ConversionTarget target);

// Returns a 0-dim tensor that holds [number]. As a wrapped number it does not raise a result's dtype within its
// category.
Tensor wrappedNumber(const IValue& number);

}  // namespace boxcar::interp
