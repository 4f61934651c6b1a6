#pragma once

#include <boxcar/ivalue/stack.h>

#include <cstdint>
#include <string>

#include "tests/hostile/subject.h"

namespace boxcar::hostile {

// The arguments that [seed] tells: plausible ones in guarded memory, of which up to three were changed to hostile ones.
// Those of one seed are always the same.
Stack makeArguments(const Subject& subject, uint64_t seed);

// The arguments as a reader wants them: dtypes, sizes, strides and what shares memory, and some elements.
std::string describeArguments(const Subject& subject, const Stack& arguments);

}  // namespace boxcar::hostile
