#pragma once

#include <boxcar/dispatcher/registry/level_text.h>
#include <boxcar/ivalue/macros.h>

// What the levels of this folder do to calls, for setLevelDescriber().

namespace boxcar::transforms {

void describeBatchedLevel(LevelCall& call);
// Of the kernel of random operators at FuncTorchVmapMode.
void describeRandomLevel(LevelCall& call);
void describeFunctionalizeLevel(LevelCall& call);
void describeFakeLevel(LevelCall& call);
void describeDeferredLevel(LevelCall& call);

// Of the kernel at Conjugate and Negative, and of that at ZeroTensor.
BOXCAR_API void describeMathBitsLevel(LevelCall& call);
BOXCAR_API void describeZeroLevel(LevelCall& call);

}  // namespace boxcar::transforms

namespace boxcar::autocast {

void describeAutocastLevel(LevelCall& call);

}  // namespace boxcar::autocast
