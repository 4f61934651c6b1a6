#pragma once

namespace boxcar::cuda {

// Returns whether the environment variable [name] is 1. Throws Error if it is neither 1 nor 0 nor empty.
bool isSwitchedOn(const char* name);

}  // namespace boxcar::cuda
