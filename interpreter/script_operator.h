#pragma once

#include <boxcar/dispatcher/registration_handle.h>
#include <boxcar/interpreter/executable.h>

#include <memory>
#include <span>
#include <vector>

namespace boxcar::interp {

// Of one operator: its schema and its body.
using OperatorRegistration = std::vector<RegistrationHandleRAII>;

// Makes an operator of a script one of the process until the handles are destroyed: it is defined and, where it has a
// body, gets a boxed CompositeImplicitAutograd kernel that runs it. Throws Error where it contradicts what is
// registered.
OperatorRegistration registerOperator(const std::shared_ptr<Executable>& program, const CodeOperator& op);
// All of them, in the order of the unit.
std::vector<OperatorRegistration> registerOperators(const std::shared_ptr<Executable>& program);

// Whether the last values of [stack] are arguments of [op]: an Error that names the one that is not.
void checkOperatorArguments(const OperatorHandle& op, const Stack& stack);
// Gives a body lists and dicts of its own, but for those that the schema lets it write: the caller's may be constants.
// What lies in them stays the caller's.
void copyContainers(const FunctionSchema& schema, std::span<IValue> arguments);
// Makes an operator's results of the one value that a body gave: None where there are none, a tuple of several.
void spreadOperatorResults(const FunctionSchema& schema, Stack& stack);

}  // namespace boxcar::interp
