#pragma once

#include <boxcar/interpreter/prepare/prepared_text.h>
#include <boxcar/interpreter/prepare/rewriter.h>
#include <boxcar/interpreter/prepare/typed_script.h>

#include <vector>

namespace boxcar::interp {

// Returns the changes that make `cat([a, b], dim)` a fused::append where the result is what the program keeps for the
// next call, as keys and values of earlier tokens are: it is returned or joined again, and else only read by what does
// not depend on its strides. Nothing is known of those who import a file, so what its functions return stays as it is.
std::vector<Edit> growTensors(const TypedScript& script, ScriptRole role);

}  // namespace boxcar::interp
