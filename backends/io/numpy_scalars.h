#pragma once

#include <boxcar/backends/io/pickle.h>

#include <span>

namespace boxcar::io {

// numpy.dtype('f8', False, True): a PickledObject, which then gets a state.
IValue pickledNumpyDtype(std::span<const IValue> arguments, const PicklePlace& place);

// numpy.core.multiarray.scalar(dtype, bytes): a bool, an int or a float. Other dtypes are an Error.
IValue pickledNumpyScalar(std::span<const IValue> arguments, const PicklePlace& place);

}  // namespace boxcar::io
