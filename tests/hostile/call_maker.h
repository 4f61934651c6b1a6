#pragma once

#include <boxcar/ivalue/stack.h>

#include <cstdint>
#include <string>

#include "tests/hostile/subject.h"

namespace boxcar::hostile {

// Returns the arguments for [seed]: plausible ones in guarded memory, up to three of them changed to hostile ones. The
// same seed always gives the same arguments.
Stack makeArguments(const Subject& subject, uint64_t seed);

// Describes the arguments for a reader: dtypes, sizes, strides, shared memory and some elements.
std::string describeArguments(const Subject& subject, const Stack& arguments);

}  // namespace boxcar::hostile
