#pragma once

#include <boxcar/dispatcher/registry/registration_handle.h>
#include <boxcar/interpreter/runtime/executable.h>

#include <memory>
#include <span>
#include <vector>

namespace boxcar::interp {

// The registrations of one operator: its schema and its body.
using OperatorRegistration = std::vector<RegistrationHandleRAII>;

// Registers an operator of a script in the process until the handles are destroyed. It is defined and, if it has a
// body, gets a boxed CompositeImplicitAutograd kernel that runs it. Throws Error if it contradicts what is registered.
OperatorRegistration registerOperator(const std::shared_ptr<Executable>& program, const CodeOperator& op);
// Registers all operators of the unit, in its order.
std::vector<OperatorRegistration> registerOperators(const std::shared_ptr<Executable>& program);

// Throws Error if one of the last values of [stack] is not a valid argument of [op]; the message names it.
void checkOperatorArguments(const OperatorHandle& op, const Stack& stack);
// Gives a body its own copies of lists and dicts, except those that the schema lets it write, because the caller's may
// be constants. Their elements are not copied.
void copyContainers(const FunctionSchema& schema, std::span<IValue> arguments);
// Turns the one value that a body returned into an operator's results: none for None, several for a tuple.
void spreadOperatorResults(const FunctionSchema& schema, Stack& stack);

}  // namespace boxcar::interp
