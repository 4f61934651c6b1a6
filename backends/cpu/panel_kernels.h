#pragma once

#include <boxcar/ivalue/macros.h>

#include <cstdint>

namespace boxcar::cpu {

// The innermost loop of a product of few rows with a weight that was packed by panels. A panel has the elements of some
// outputs, its width: those of the first input lie one after another, then come those of the second one. Of bfloat16,
// whose elements are bits here, pairs take the place of elements: two inputs of one output. Each row of [x] begins
// [x_step] elements after the one before. Writes sums[row][output], of [width] outputs a row.
//
// Weights are read in the order in which they lie in memory, for all rows at once: that is as fast as memory is read.
template <class T>
using PanelKernel = void (*)(int64_t rows, int64_t steps, const T* x, int64_t x_step, const T* panel, float* sums);

// With more rows, multiply-adds take most of the time, and oneDNN's loops are faster.
inline constexpr int64_t kMostPanelRows = 8;
inline constexpr int64_t kMostPanelWidth = 64;

// Returns the kernel for panels of so many outputs; null if the CPU has none. Its steps are inputs.
BOXCAR_API PanelKernel<float> floatPanelKernel(int64_t width);
// Its steps are pairs of inputs.
BOXCAR_API PanelKernel<uint16_t> bfloat16PanelKernel(int64_t width);

}  // namespace boxcar::cpu
