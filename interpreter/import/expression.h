#pragma once

#include <boxcar/schema/type.h>

#include <cstdint>
#include <string>
#include <string_view>

// Expressions of a script, as texts.

namespace boxcar::interp {

// How tightly an expression binds, as in the manual's table of operators.
enum class Precedence : uint8_t {
  Conditional,
  Or,
  And,
  Not,
  Compare,
  BitOr,
  BitXor,
  BitAnd,
  Shift,
  Add,
  Multiply,
  Unary,
  Power,
  Atom
};

struct Expression {
  std::string text;
  Precedence binding = Precedence::Atom;
  TypePtr type = Type::tensor();
};

// Returns [expression], in parentheses if it binds looser than [least].
std::string within(const Expression& expression, Precedence least);

// Returns `left sign right`, with the parentheses that it needs.
Expression binaryExpression(const Expression& left, std::string_view sign, const Expression& right, Precedence binding,
                            TypePtr type);

}  // namespace boxcar::interp
