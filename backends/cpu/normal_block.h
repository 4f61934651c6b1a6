#pragma once

namespace boxcar::cpu {

// Turns sixteen uniform numbers in [0, 1) at [values] into normally distributed ones (Box-Muller); the first eight pair
// with the last eight. The results are bit-identical to those of PyTorch's vectorised kernel.
void makeNormalBlock(float* values, float mean, float std);

}  // namespace boxcar::cpu
