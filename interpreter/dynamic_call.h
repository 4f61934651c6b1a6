#pragma once

#include <boxcar/interpreter/executable.h>
#include <boxcar/ivalue/stack.h>

#include <span>

namespace boxcar::interp {

// Replaces the arguments of the site, the last values of [stack], by the result of the overload that fits them: None
// for an operator without results, a tuple for one with several. An Error with the candidates and why each was turned
// down where none fits.
void callDynamic(const LinkedDynamicSite& linked, Stack& stack);

// The same for positional arguments of an operator that is known by its name.
IValue callOperator(const char* name, std::span<const IValue> arguments);

}  // namespace boxcar::interp
