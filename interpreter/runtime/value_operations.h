#pragma once

// Python's operators on values whose kinds are only known at run time: numbers, strings, lists, tuples, dicts. If an
// operand is a tensor, they call operators of the dispatcher. Errors name the operator and both kinds.

#include <boxcar/interpreter/syntax/ast.h>
#include <boxcar/ivalue/ivalue.h>

#include <string>

namespace boxcar::interp {

IValue binaryValue(syntax::BinaryOp op, const IValue& a, const IValue& b);
// For Equal to GreaterEqual; the other comparisons have operations of their own.
IValue compareValue(syntax::CompareOp op, const IValue& a, const IValue& b);
IValue unaryValue(syntax::UnaryOp op, const IValue& a);

// Returns -1, 0 or 1, or 2 if nan is involved; throws Error if the kinds have no order.
int orderValues(const IValue& a, const IValue& b);

// Python's truth; a tensor must have one element.
bool truth(const IValue& value);

// Returns the name of a value's kind in errors: "int", "str", "Tensor", "int[]".
std::string kindName(const IValue& value);

}  // namespace boxcar::interp
