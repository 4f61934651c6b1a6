#pragma once

#include <boxcar/dispatcher/call/scope.h>

namespace boxcar::cuda {

// Calls a script's function through CUDA graphs. The first call with a kind of inputs runs as usual, so that libraries
// are opened and it is seen what the function writes to. The second call is captured and launched; later calls only
// launch. Different sizes, strides, dtypes or numbers make another kind of inputs.
//
// A graph reads the memory of the tensors that it was captured with. If an argument is at another address in a later
// call, the graph gets a copy of it at a fixed address; weights stay where they are. Results are copied out, so that
// the next launch does not overwrite them. In-place changes to arguments are made to the caller's tensors.
//
// If the thread has modes, such as a tracer, or included keys, the function runs as usual, because those must see all
// calls.
IValue callGraphed(const FunctionCall& function);

}  // namespace boxcar::cuda
