#pragma once

#include <boxcar/ivalue/ivalue.h>
#include <boxcar/schema/function_object.h>
#include <boxcar/schema/type.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

// Calls of functions that are values, for operators that take functions.

namespace boxcar::autograd {

// Calls [function] with [args]; parameters that are missing at the end get their defaults. Returns its result: None, or
// a tuple of several. Throws Error, beginning with [what], if the number of arguments does not fit.
IValue callFunction(std::string_view what, const FunctionObject& function, std::span<const IValue> args);

// Returns the elements of a list of any kind.
std::vector<IValue> elementsOf(const IValue& list);

// Returns the arguments that [list] has for [function]: its elements, or the list itself, if the function's first
// parameter is a list like it, and no element is.
std::vector<IValue> argumentsFor(const FunctionObject& function, const IValue& list);

// Whether a parameter of type [wanted] may take a value of type [given], perhaps after a conversion.
bool mayTake(TypePtr wanted, TypePtr given) noexcept;

// Whether it is a tuple, or a list of any kind.
bool isSequence(const IValue& value) noexcept;

// The tensors in a value, in the order in which mapTensors() maps them, undefined ones too.
std::vector<Tensor> tensorsIn(std::span<const IValue> values);
// Returns the tensors in [value] in the order of those in [like]: those of a dict by its keys. [role] begins the Error
// of a dict with other keys: "func::jvp: the tangent".
std::vector<Tensor> tensorsLike(std::string_view role, const IValue& like, const IValue& value);
// Returns [values] with their tensors replaced by [tensors], in the same order.
std::vector<IValue> withTensors(std::span<const IValue> values, std::span<const Tensor> tensors);

}  // namespace boxcar::autograd
