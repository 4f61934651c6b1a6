#pragma once

#include <boxcar/dispatcher/registry/operator_handle.h>
#include <boxcar/ivalue/ivalue.h>

#include <span>

// Checks what a schema promises about a call, one promise each. Each function throws an Error that names the operator,
// the argument or the result, and what was promised.

namespace boxcar::promises {

// Checks that there are as many results as the schema says, of its types.
void checkResultTypes(const OperatorHandle& op, std::span<const IValue> results);

// Checks that [arguments] equal [before], copies made before the call, except for those that the schema marks as
// written.
void checkUnchanged(const OperatorHandle& op, std::span<const IValue> arguments, std::span<const IValue> before);

// Checks that arguments and results share the memory that the schema says they share, and no other.
void checkAliasing(const OperatorHandle& op, std::span<const IValue> arguments, std::span<const IValue> results);

// Checks that a second run left the same bits, in results and in written arguments.
void checkSame(const OperatorHandle& op, std::span<const IValue> arguments, std::span<const IValue> results,
               std::span<const IValue> arguments_again, std::span<const IValue> results_again);

}  // namespace boxcar::promises
