#pragma once

#include <boxcar/ivalue/ivalue.h>
#include <boxcar/schema/argument.h>
#include <boxcar/schema/type.h>

#include <cstdint>
#include <optional>

namespace boxcar::interp {

// What it costs to pass a value as a parameter's type, from free to dear. A conversion of several steps costs what its
// dearest step costs.
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
  NumberToTensor,  // a tensor without dimensions
  FromAny,         // known when the line runs; compile time only
};

// What a value is passed as: a type, how long a list one int stands for (0 where none is meant), and whether a number
// may stand for a Tensor.
struct ConversionTarget {
  TypePtr type = nullptr;
  int32_t list_size = 0;
  bool beside_tensor = false;

  friend bool operator==(const ConversionTarget&, const ConversionTarget&) = default;
};

// What a call of operators with [parameter] converts to.
inline ConversionTarget targetOf(const Argument& parameter) {
  return {parameter.type(), parameter.N().value_or(0), false};
}

// What a conversion may assume about the call that it belongs to.
struct ConversionContext {
  bool beside_tensor = false;  // another argument is a Tensor, so that a number may become one
  bool at_run_time = false;    // types were taken from values, where a dtype is an int and nothing is unknown
};

// The cost of passing a value of type [from] as [target]; nothing where that cannot be.
std::optional<ConversionCost> conversionCost(TypePtr from, ConversionTarget target, ConversionContext context);

// Whether a value of type [from] is passed as [target] as it is; convertValue has nothing to do.
bool isSameRepresentation(TypePtr from, TypePtr to);

// The value as [target] wants it: what conversionCost allows, decided by the value. Throws an Error "expected int[],
// found str" where it cannot be. The one place where values are converted, for compiled code as for calls that are
// resolved at run time.
IValue convertValue(IValue value, ConversionTarget target);

// A tensor without dimensions that holds [number] and does not raise the dtype of a result within its kind.
Tensor wrappedNumber(const IValue& number);

}  // namespace boxcar::interp
