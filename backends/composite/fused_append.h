#pragma once

#include <boxcar/dispatcher/registry/dispatcher.h>

namespace boxcar::composite {

// A call of fused::append as one of aten::cat: what modes and tracers see.
void callCatForAppend(const OperatorHandle& op, DispatchKeySet keys, Stack* stack);

}  // namespace boxcar::composite
