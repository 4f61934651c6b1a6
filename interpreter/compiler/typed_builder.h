#pragma once

// Builds typed expressions and statements. These functions need only their arguments.

#include <boxcar/interpreter/bytecode/opcodes.h>
#include <boxcar/interpreter/compiler/typed_program.h>
#include <boxcar/interpreter/syntax/source.h>
#include <boxcar/ivalue/ivalue.h>
#include <boxcar/schema/type.h>

#include <cstdint>
#include <string_view>

namespace boxcar::interp::typed {

ExprPtr make(TypePtr type, Span span, Expr::Node node);
ExprPtr constant(IValue value, TypePtr type, Span span);
// Returns an expression that makes [value], of type [type], anew each time if it is a list or a dict.
ExprPtr literal(const IValue& value, TypePtr type, Span span);
ExprPtr noneOf(TypePtr type, Span span);
inline ExprPtr none(Span span) { return noneOf(Type::none(), span); }
// Stands for an expression with a reported error, so that no further error is reported for it.
inline ExprPtr poison(Span span) { return noneOf(Type::any(), span); }
bool isPoison(const Expr& expr);
ExprPtr read(Target target, TypePtr type, Span span);
// Whether [expr] is a constant or a variable, which costs nothing to evaluate again.
bool isSimple(const Expr& expr);
// Returns a copy of [simple], for which isSimple() must hold.
ExprPtr copyOf(const Expr& simple);
// Returns an expression that runs [before], then evaluates to [value].
ExprPtr withStatements(Block before, ExprPtr value);

// Returns the operation; its result if the operands are constants.
ExprPtr operate(Opcode op, TypePtr type, Span span, ExprPtr left, ExprPtr right = nullptr, TypePtr parameter = nullptr);
// Returns [value], a Value, as a scalar if [type] is one; a run-time error if the value is not.
ExprPtr unboxed(ExprPtr value, TypePtr type);
ExprPtr convertAtRunTime(ExprPtr value, TypePtr type);
// Returns [value] as a bool, as a condition takes it.
ExprPtr truth(ExprPtr value);
// Returns field [index] of [object], a struct's value.
ExprPtr field(ExprPtr object, uint16_t index, Span span);
// Returns the field of a value that may be a struct's, and whether it is one with a field or a method called [name].
ExprPtr fieldNamed(ExprPtr object, std::string_view name, Span span);
ExprPtr hasMember(ExprPtr value, std::string_view name, Span span);
// Returns the text that print and f-strings show for a dtype and similar values, which are otherwise ints.
ExprPtr shown(ExprPtr value);

void append(Block& out, Span span, Stmt::Node node);
// Returns the element that an iteration of [loop], a ForRange or a ForEach, is for.
ExprPtr loopElement(const Stmt::Node& loop, Span span);
// Gives [loop], a ForRange or a ForEach, its body.
void finishLoop(Stmt::Node& loop, Block body, Block at_end);

}  // namespace boxcar::interp::typed
