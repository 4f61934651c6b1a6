#pragma once

#include <boxcar/dispatcher/operator_cost.h>
#include <boxcar/dispatcher/operator_handle.h>
#include <boxcar/ivalue/macros.h>

namespace boxcar {

// What a call of [op] cost that called no other operators: as is registered for it, else estimated by its schema, its
// tags and the tensors. The bytes are always told.
BOXCAR_API OperatorCost workOfCall(const OperatorHandle& op, const FinishedCall& call);

}  // namespace boxcar
