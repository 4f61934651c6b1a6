#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

// The expressions of .derivatives files, and their translation to C++.
//
//   expression: choice                       choice: test `if` test `else` test
//   test: comparisons joined by `and`, `or`, `not`
//   comparison: == != < <= > >=, over + - * / and ** with their usual precedence, and a sign
//   operand: a number, "text", True, False, None, NAME, NAME(expression, …), (expression), [expression, …],
//            operand.NAME, operand.NAME(expression, …), operand[expression]
//
// x.f(y) is f(x, y), and x.f is f(x), unless [property] knows it.

namespace boxcar::codegen {

struct FormulaNames {
  // Returns the C++ expression of a name; empty if the name is unknown.
  std::function<std::string(std::string_view name)> name;
  // Returns the C++ expression of `name.attribute`; empty if the attribute is no property of that name.
  std::function<std::string(std::string_view name, std::string_view attribute)> property;
};

// Returns the C++ expression. Throws Error that names the column and what was expected.
std::string translateFormula(std::string_view text, const FormulaNames& names);

// Returns the terms whose sum an expression is; the whole of it if it is none.
std::vector<std::string> termsOf(std::string_view text);

}  // namespace boxcar::codegen
