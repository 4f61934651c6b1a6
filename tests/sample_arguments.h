#pragma once

#include <boxcar/dispatcher/registry/operator_handle.h>
#include <boxcar/ivalue/stack.h>

#include <vector>

namespace boxcar {

// Returns some sets of arguments that [op] runs with: tensors of several dtypes and layouts, some without dimensions or
// without elements, all finite. Types and names determine the other arguments. Each call makes new tensors. If the
// hints in sample_arguments.cpp give no set that runs, the sets come from the kept cases of tests/numerics. Every set
// was tried on copies, hidden from handlers; this changes no random state.
std::vector<Stack> sampleArguments(const OperatorHandle& op);

// Whether [op] works on tensors that were made by recorded calls only, so that there are no sets for it.
bool needsHistory(const OperatorHandle& op);

// Returns the arguments of the kept cases of tests/numerics that call [op], with new tensors each time; untried.
std::vector<Stack> keptArguments(const OperatorHandle& op);

}  // namespace boxcar
