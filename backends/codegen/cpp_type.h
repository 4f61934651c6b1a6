#pragma once

#include <boxcar/schema/function_schema.h>

#include <optional>
#include <string>

namespace boxcar::codegen {

// The C++ type that a kernel of the operator takes for [argument]: `const Tensor&`.
std::string kernelArgumentType(const Argument& argument);

// The C++ type that a caller may give for it, which converts to the kernel's: `IntArrayRef` for an int list.
std::string callerArgumentType(const Argument& argument);

// The C++ type of the operator's result or results.
std::string resultType(const FunctionSchema& schema);

// The default of [argument] as a C++ expression; nothing when it has none, or none that C++ can write.
std::optional<std::string> defaultExpression(const Argument& argument);

}  // namespace boxcar::codegen
