#pragma once

namespace boxcar::cuda {

// Whether the environment variable [name] is 1; an Error when it is neither that nor 0 nor empty.
bool isSwitchedOn(const char* name);

}  // namespace boxcar::cuda
