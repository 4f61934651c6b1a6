#pragma once

#include <boxcar/ivalue/ivalue.h>
#include <boxcar/schema/type.h>

#include <cstdint>

#include "tests/hostile/random.h"

namespace boxcar::hostile {

// Numbers at which things often go wrong.
int64_t hostileInt(Random& random);
double hostileFloat(Random& random);
ScalarType anyDtype(Random& random);

// Returns a value of [type], which has no tensors, to use instead of [plausible]: one at the edges of the type, or one
// near [plausible].
IValue hostileValue(TypePtr type, const IValue& plausible, Random& random);

}  // namespace boxcar::hostile
