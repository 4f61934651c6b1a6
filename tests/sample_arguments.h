#pragma once

#include <boxcar/dispatcher/operator_handle.h>
#include <boxcar/ivalue/stack.h>

#include <vector>

namespace boxcar {

// Arguments that [op] runs with, some sets of them: tensors of several dtypes and layouts, without dimensions and
// without elements, all finite; what else the schema asks for is made by types and names. Each call makes new tensors.
// None where no set was found that runs: sample_arguments.cpp has hints for arguments that must fit each other. Every
// set was tried on copies, hidden from handlers, and no random number is drawn by it.
std::vector<Stack> sampleArguments(const OperatorHandle& op);

}  // namespace boxcar
