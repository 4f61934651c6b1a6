#pragma once

#include <boxcar/interpreter/bytecode/builtins.h>
#include <boxcar/schema/function_schema.h>

#include <string>
#include <string_view>

namespace boxcar::service {

// Return the parts of an operator's name before and after the `::`.
std::string_view spaceOf(std::string_view name) noexcept;
std::string_view nameOf(std::string_view name) noexcept;

// Returns the signature as written before a call: `len(Any value) -> int`, `list.append(t[] self, t item) -> ()`.
std::string signatureOf(const interp::Builtin& builtin);

// Returns whether the built-in is read and not called, such as a tensor's `shape` or an operator's `name`.
bool isAttribute(const interp::Builtin& builtin) noexcept;

// Returns whether a value of type [type] can be the first argument of a method with this schema.
bool takesFirst(const FunctionSchema& schema, TypePtr type) noexcept;

// Returns one sentence for a keyword, including `op` and `exit`; empty for other words.
std::string_view keywordHelp(std::string_view word) noexcept;

}  // namespace boxcar::service
