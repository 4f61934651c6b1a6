#pragma once

#include <boxcar/ivalue/generator.h>
#include <boxcar/ivalue/scalar_type.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace boxcar::shape {

// The integers that random numbers are drawn from: [count] of them from [base] on, all 64-bit ones when it is 0.
struct IntegerRange {
  int64_t base;
  uint64_t count;
};

// The integers of [from] to below [to], or to the largest that elements of [dtype] count to without gaps. Bounds that a
// float cannot hold are moved inward. An Error when there is none, or [dtype] does not reach as far.
IntegerRange integerRange(ScalarType dtype, int64_t from, std::optional<int64_t> to);

// An Error when elements of [dtype] cannot hold all of 0 to n - 1.
void checkPermutation(int64_t n, ScalarType dtype);

// An Error for an operator [name] of real floating-point numbers on elements of another [dtype].
void checkFloating(std::string_view name, ScalarType dtype);

// An Error when [probability] does not lie in [0, 1].
void checkProbability(std::string_view name, double probability);

// An Error when rows of [self], one or two dimensions of floats, are no weights to draw [samples] from.
void checkMultinomial(const Tensor& self, int64_t samples, bool replacement);

}  // namespace boxcar::shape
