#pragma once

#include <boxcar/interpreter/compiler/typed_program.h>
#include <boxcar/interpreter/syntax/source.h>
#include <boxcar/schema/function_schema.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace boxcar::interp {

// Returns the text of a constant as a script writes it; nothing for values that it cannot write. Where [size] ints may
// be written as one, they are.
std::optional<std::string> constantText(const IValue& value, std::optional<int32_t> size = std::nullopt);

// Returns the number that stands for a tensor, the 1 of `1 / x`; null for others.
const typed::Expr* wrappedNumber(const typed::Expr& expr);

// Returns the text of [expr] in [source]: as it is written there, or that of a constant which is not written, such as a
// default; nothing if there is none. [size]: as above.
std::optional<std::string> textOf(const typed::Expr& expr, const SourcePtr& source,
                                  std::optional<int32_t> size = std::nullopt);

// Puts [text] into parentheses, unless it can stand beside any operator.
std::string inParentheses(std::string text);

// An argument of a call; [text] is missing where the default stands.
struct ArgumentText {
  std::string_view name;
  std::optional<std::string> text;
};
// Returns a call: the first three arguments, and others without defaults, by position as long as none is missing, then
// by name.
std::string callText(std::string_view callee, const FunctionSchema& schema, const std::vector<ArgumentText>& arguments);

// Returns how a script calls the operator: without a namespace if it is aten.
std::string_view calleeText(const OperatorName& name);

}  // namespace boxcar::interp
