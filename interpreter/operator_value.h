#pragma once

#include <boxcar/dispatcher/operator_handle.h>
#include <boxcar/ivalue/ivalue.h>

#include <string_view>

namespace boxcar::interp {

// An operator as scripts see it: what `op` is in a handler's body, what `operator("aten::relu")` gives. Equal operators
// are the same value.
IValue operatorValue(const OperatorHandle& op);

// The operator that [value] is; an Error that begins with [what] where it is none.
OperatorHandle toOperator(const IValue& value, std::string_view what);

// The operator of a name as scripts write it, "aten::add.Tensor" or "aten::relu"; an Error that says what there is.
OperatorHandle operatorNamed(std::string_view name);

// [arguments], which scripts give as a list, as [op] wants them on a stack: converted, defaults filled in. An Error
// that begins with [what] and names the argument that does not fit.
Stack argumentsFor(const OperatorHandle& op, const IValue& arguments, std::string_view what);

// The values of a stack as a list.
IValue listOf(Stack stack);

}  // namespace boxcar::interp
