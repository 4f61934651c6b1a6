#pragma once

#include <boxcar/ivalue/ivalue.h>
#include <boxcar/schema/type.h>

#include <cstdint>

#include "tests/hostile/random.h"

namespace boxcar::hostile {

// Numbers at which something may go wrong.
int64_t hostileInt(Random& random);
double hostileFloat(Random& random);
ScalarType anyDtype(Random& random);

// A value of [type], which has no tensors, in the place of [plausible]: one at the edges of the type, or one that is
// near to the plausible one.
IValue hostileValue(TypePtr type, const IValue& plausible, Random& random);

}  // namespace boxcar::hostile
