#pragma once

#include <boxcar/backends/meta/dims.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>
#include <span>

namespace boxcar::meta {

// Returns [dims] as numbers from 0. Throws Error if one is out of range or occurs twice.
DimVector transformedDims(std::span<const int64_t> dims, int64_t rank);

// Sorts the first [count] of [dims] by the strides of [self], the largest first.
void sortTransformedDims(DimVector& dims, size_t count, const Tensor& self);

// Returns the strides of a result of [sizes]: [dims] are the innermost ones, in this order, and the others are around
// them, in the memory order of [self].
DimVector fftStrides(const Tensor& self, std::span<const int64_t> sizes, std::span<const int64_t> dims);

// Returns the factor that PyTorch's numbers for a normalization mean: 0 for none, 1 for one over the square root of
// [elements], 2 for one over [elements]. Throws Error for another number.
double fftScale(int64_t normalization, double elements);

}  // namespace boxcar::meta
