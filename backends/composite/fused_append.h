#pragma once

#include <boxcar/dispatcher/registry/dispatcher.h>

namespace boxcar::composite {

// Kernels of fused::append, which fused_pointwise.cpp registers: each block of registrations costs every program's
// start.

// Looks at the memory if the call is of plain CPU tensors alone.
void append(const OperatorHandle& op, DispatchKeySet keys, Stack* stack);
// A call of it as one of aten::cat: what modes and tracers see.
void callCatForAppend(const OperatorHandle& op, DispatchKeySet keys, Stack* stack);

}  // namespace boxcar::composite
