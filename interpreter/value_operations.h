#pragma once

// Python's operators on values whose kinds are only known when they meet: numbers, strings, lists, tuples, dicts. Where
// a tensor takes part they are operators of the dispatcher. Errors name the operator and both kinds.

#include <boxcar/interpreter/ast.h>
#include <boxcar/ivalue/ivalue.h>

#include <string>

namespace boxcar::interp {

IValue binaryValue(syntax::BinaryOp op, const IValue& a, const IValue& b);
// Equal to GreaterEqual; the others have operations of their own.
IValue compareValue(syntax::CompareOp op, const IValue& a, const IValue& b);
IValue unaryValue(syntax::UnaryOp op, const IValue& a);

// -1, 0 or 1, or 2 where nan is in it; Error where the kinds have no order.
int orderValues(const IValue& a, const IValue& b);

// Python's truth; a tensor must have one element.
bool truth(const IValue& value);

// What errors call the kind of a value: "int", "str", "Tensor", "int[]".
std::string kindName(const IValue& value);

}  // namespace boxcar::interp
