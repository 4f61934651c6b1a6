#pragma once

#include <boxcar/dispatcher/registry/operator_handle.h>
#include <boxcar/ivalue/ivalue.h>
#include <boxcar/schema/function_object.h>

#include <string_view>

namespace boxcar::interp {

// Returns an operator as scripts see it, a FunctionObject: `op` in a handler's body, or the result of
// `operator("aten::relu")`. Equal operators are the same value.
IValue operatorValue(const OperatorHandle& op);

// Returns the operator in [value]; throws Error, beginning with [what], if it is not an operator.
OperatorHandle toOperator(const IValue& value, std::string_view what);

// Returns the operator with a name as in scripts, "aten::add.Tensor" or "aten::relu"; throws Error that says what there
// is.
OperatorHandle operatorNamed(std::string_view name);

// Returns the function or the operator in [value]; throws Error, beginning with [what], if it is neither. It lives as
// long as the value.
const FunctionObject& toFunction(const IValue& value, std::string_view what);

// Returns [arguments], a list from a script, as a stack for a function of [schema]: converted, with defaults filled in.
// Throws Error that begins with [what] and names the argument that does not fit.
Stack argumentsFor(const FunctionSchema& schema, const IValue& arguments, std::string_view what);

// Returns the values of a stack as a list.
IValue listOf(Stack stack);

}  // namespace boxcar::interp
