#pragma once

namespace boxcar::cpu {

// Makes sixteen numbers drawn evenly from [0, 1) at [values] into normally distributed ones (Box and Muller); the first
// eight pair with the last eight. To the last bit what PyTorch's vectorised kernel makes of them.
void makeNormalBlock(float* values, float mean, float std);

}  // namespace boxcar::cpu
