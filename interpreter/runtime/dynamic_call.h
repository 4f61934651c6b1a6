#pragma once

#include <boxcar/interpreter/runtime/executable.h>
#include <boxcar/ivalue/macros.h>
#include <boxcar/ivalue/stack.h>
#include <boxcar/schema/function_object.h>

#include <span>
#include <string_view>

namespace boxcar::interp {

// Replaces the site's arguments, the last values of [stack], by the result of the overload that fits them: None for an
// operator without results, a tuple for one with several. Throws Error if none fits; it lists the candidates and why
// each was rejected.
void callDynamic(const LinkedDynamicSite& linked, Stack& stack);

// Calls a function in the same way, with [values] in the order of [keywords], whose positional entries are empty.
BOXCAR_API IValue callFunction(const FunctionObject& function, std::span<IValue> values,
                               std::span<const std::string_view> keywords);

// Calls the operator called [name] with positional arguments, resolved in the same way.
IValue callOperator(const char* name, std::span<const IValue> arguments);

}  // namespace boxcar::interp
