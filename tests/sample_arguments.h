#pragma once

#include <boxcar/dispatcher/operator_handle.h>
#include <boxcar/ivalue/stack.h>

#include <vector>

namespace boxcar {

// Arguments that [op] runs with, some sets of them: tensors of several dtypes and layouts, without dimensions and
// without elements, all finite; what else the schema asks for is made by types and names. Each call makes new tensors.
// Where the hints in sample_arguments.cpp make none that runs, they are those of the kept cases of tests/numerics.
// Every set was tried on copies, hidden from handlers, and no random number is drawn by it.
std::vector<Stack> sampleArguments(const OperatorHandle& op);

// The arguments of the kept cases of tests/numerics that call [op], new tensors each time; none was tried.
std::vector<Stack> keptArguments(const OperatorHandle& op);

}  // namespace boxcar
