#pragma once

#include <boxcar/ivalue/tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "tests/hostile/random.h"

namespace boxcar::hostile {

// Every tensor lies in guarded memory that ends, or begins, with its elements.

// [sizes] of [dtype] with small positive numbers, of a layout that may have gaps, a beginning, another order of its
// dimensions, and now and then a dimension whose elements are one.
Tensor plainTensor(std::span<const int64_t> sizes, ScalarType dtype, Random& random);

// The elements of [source], which lies on the CPU, or is undefined and stays so; in such a layout, too.
Tensor guardedCopy(const Tensor& source, Random& random);

// A tensor in the place of [plausible]: undefined, of another dtype or shape, with numbers like NaN, huge by strides of
// zero, of overlapping elements, without memory (meta), that shares memory with one of [others] or is it.
Tensor hostileTensor(const Tensor& plausible, std::span<const Tensor> others, Random& random);

// One for a result to go to: as that, and one of [others], a part of it, an empty one, one that cannot be resized.
Tensor hostileOutput(const Tensor& plausible, std::span<const Tensor> others, Random& random);

// No memory: of these sizes, which may be huge, or smaller ones where there can be no such tensor.
Tensor metaTensor(std::span<const int64_t> sizes, ScalarType dtype);

}  // namespace boxcar::hostile
