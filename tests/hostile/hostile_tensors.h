#pragma once

#include <boxcar/ivalue/tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "tests/hostile/random.h"

namespace boxcar::hostile {

// Every tensor is in guarded memory that ends, or begins, with its elements.

// Returns a tensor with small positive numbers. The layout may have gaps, an offset or permuted dimensions, and
// sometimes a dimension of stride 0.
Tensor plainTensor(std::span<const int64_t> sizes, ScalarType dtype, Random& random);

// Copies the elements of [source], which is on the CPU, into such a layout. An undefined tensor stays undefined.
Tensor guardedCopy(const Tensor& source, Random& random);

// Returns a tensor to use instead of [plausible]: undefined, of another dtype or shape, with numbers like NaN, huge
// through strides of zero, with overlapping elements, without memory (meta), sharing memory with one of [others], or
// one of [others] itself.
Tensor hostileTensor(const Tensor& plausible, std::span<const Tensor> others, Random& random);

// Returns a tensor to use as an output: as hostileTensor(), or one of [others], a part of it, an empty one, or one that
// cannot be resized.
Tensor hostileOutput(const Tensor& plausible, std::span<const Tensor> others, Random& random);

// Returns a meta tensor of these sizes, which may be huge; of small sizes if such a tensor is impossible.
Tensor metaTensor(std::span<const int64_t> sizes, ScalarType dtype);

}  // namespace boxcar::hostile
