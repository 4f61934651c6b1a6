#pragma once

#include <boxcar/schema/function_schema.h>

#include <optional>
#include <string>

namespace boxcar::codegen {

// Returns the C++ type of [argument] in a kernel's signature: `const Tensor&`.
std::string kernelArgumentType(const Argument& argument);

// Returns the C++ type that a caller passes for [argument], which converts to the kernel's type: `IntArrayRef` for an
// int list.
std::string callerArgumentType(const Argument& argument);

// Returns the C++ type of the operator's result or results.
std::string resultType(const FunctionSchema& schema);

// Returns the default of [argument] as a C++ expression; nullopt if it has none or if C++ cannot express it.
std::optional<std::string> defaultExpression(const Argument& argument);

}  // namespace boxcar::codegen
