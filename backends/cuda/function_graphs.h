#pragma once

#include <boxcar/dispatcher/device_scope.h>

namespace boxcar::cuda {

// Calls a script's function by way of graphs. Its first call for inputs of a kind runs as always, which lets libraries
// be opened and shows what the function writes to. The second is captured and launched; those that follow are launched
// alone. Other sizes, strides, dtypes or numbers are another kind of inputs.
//
// A graph reads the memory of the tensors that it was captured with. Arguments that lay elsewhere in the meantime are
// copied to where they do not move any more; weights stay where they are. Results are copied out, so that the next
// launch leaves them alone. Work that a function does to its arguments is done to the caller's.
//
// Where the thread has modes, such as a tracer, or includes keys, the function runs as always: what they stand for is
// to see all calls.
IValue callGraphed(const FunctionCall& function);

}  // namespace boxcar::cuda
