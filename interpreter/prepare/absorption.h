#pragma once

#include <boxcar/interpreter/prepare/text_edit.h>
#include <boxcar/interpreter/prepare/typed_script.h>

#include <vector>

namespace boxcar::interp {

// Returns the changes that move a sum or an activation after a fused operator, `relu(fused::linear(x, w))`, or after a
// layer of fused.ops, into it: `fused::linear(x, w, activation="relu")`. A sum comes first, so call it until there are
// no changes.
std::vector<Edit> absorb(const TypedScript& script);

}  // namespace boxcar::interp
