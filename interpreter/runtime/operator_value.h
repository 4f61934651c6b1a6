#pragma once

#include <boxcar/dispatcher/registry/operator_handle.h>
#include <boxcar/ivalue/ivalue.h>

#include <string_view>

namespace boxcar::interp {

// Returns an operator as scripts see it: `op` in a handler's body, or the result of `operator("aten::relu")`. Equal
// operators are the same value.
IValue operatorValue(const OperatorHandle& op);

// Returns the operator in [value]; throws Error, beginning with [what], if it is not an operator.
OperatorHandle toOperator(const IValue& value, std::string_view what);

// Returns the operator with a name as in scripts, "aten::add.Tensor" or "aten::relu"; throws Error that says what there
// is.
OperatorHandle operatorNamed(std::string_view name);

// Returns [arguments], a list from a script, as a stack for [op]: converted, with defaults filled in. Throws Error that
// begins with [what] and names the argument that does not fit.
Stack argumentsFor(const OperatorHandle& op, const IValue& arguments, std::string_view what);

// Returns the values of a stack as a list.
IValue listOf(Stack stack);

}  // namespace boxcar::interp
