#pragma once

#include <boxcar/dispatcher/registry/operator_cost.h>
#include <boxcar/dispatcher/registry/operator_handle.h>
#include <boxcar/ivalue/macros.h>

namespace boxcar {

// Returns the cost of a call of [op] that called no other operators: the registered cost, else an estimate from its
// schema, its tags and the tensors. The bytes are always set.
BOXCAR_API OperatorCost workOfCall(const OperatorHandle& op, const FinishedCall& call);

}  // namespace boxcar
