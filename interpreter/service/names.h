#pragma once

#include <boxcar/interpreter/bytecode/builtins.h>
#include <boxcar/schema/function_schema.h>

#include <string>
#include <string_view>

namespace boxcar::service {

// What stands before the two colons of an operator's name, and what stands behind them.
std::string_view spaceOf(std::string_view name) noexcept;
std::string_view nameOf(std::string_view name) noexcept;

// As it is written before a call: `len(Any value) -> int`, `list.append(t[] self, t item) -> ()`.
std::string signatureOf(const interp::Builtin& builtin);

// A tensor's `shape` or an operator's `name`: built-ins that are read and not called.
bool isAttribute(const interp::Builtin& builtin) noexcept;

// Whether a value of type [type] may stand as the first argument of a method with this schema.
bool takesFirst(const FunctionSchema& schema, TypePtr type) noexcept;

// One sentence for a keyword, `op` and `exit` among them; empty for other words.
std::string_view keywordHelp(std::string_view word) noexcept;

}  // namespace boxcar::service
