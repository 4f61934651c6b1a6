#pragma once

#include <boxcar/ivalue/macros.h>
#include <boxcar/ivalue/resolved_tensor.h>

// Lazy conjugates and negatives: views of other tensors' memory whose keys Conjugate and Negative say that their
// elements are the conjugates, or the negatives, of what is there. Views of them have the keys, too. At these keys one
// kernel serves all operators: it gives operators that read elements a copy that has them, and writes what operators
// have written to such a copy back.

namespace boxcar::transforms {

// Registers the kernel, once. Called before a tensor gets one of the keys.
BOXCAR_API void registerMathBits();

}  // namespace boxcar::transforms
