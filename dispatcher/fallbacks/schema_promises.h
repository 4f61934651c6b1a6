#pragma once

#include <boxcar/dispatcher/operator_handle.h>
#include <boxcar/ivalue/ivalue.h>

#include <span>

// What a schema promises of a call, promise by promise; each throws an Error that names the operator, the argument or
// the result, and what was promised.

namespace boxcar::promises {

// [count] results are left on the stack, of the schema's types.
void checkResultTypes(const OperatorHandle& op, std::span<const IValue> results);

// [arguments] are as [before], copies that were made before the call, but for what the schema says is written.
void checkUnchanged(const OperatorHandle& op, std::span<const IValue> arguments, std::span<const IValue> before);

// Arguments and results share the memory that the schema says they share, and no other.
void checkAliasing(const OperatorHandle& op, std::span<const IValue> arguments, std::span<const IValue> results);

// A second run left the same bits, in results and in what it wrote.
void checkSame(const OperatorHandle& op, std::span<const IValue> arguments, std::span<const IValue> results,
               std::span<const IValue> arguments_again, std::span<const IValue> results_again);

}  // namespace boxcar::promises
