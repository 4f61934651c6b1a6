#pragma once

#include <boxcar/ivalue/generator.h>
#include <boxcar/ivalue/scalar_type.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace boxcar::meta {

// The range that random integers are drawn from: [count] integers starting at [base], or all 64-bit integers if [count]
// is 0.
struct IntegerRange {
  int64_t base;
  uint64_t count;
};

// Returns the integers from [from] up to but excluding [to]. Without [to], the last one is the largest integer up to
// which [dtype] holds all integers. Bounds that a float cannot represent move inward. Throws Error if the range is
// empty or exceeds the range of [dtype].
IntegerRange integerRange(ScalarType dtype, int64_t from, std::optional<int64_t> to);

// Throws Error if [dtype] cannot hold every integer from 0 to n - 1.
void checkPermutation(int64_t n, ScalarType dtype);

// Throws Error if [dtype] is not a real floating-point type, which operator [name] requires.
void checkFloating(std::string_view name, ScalarType dtype);

// Throws Error if [probability] is not in [0, 1].
void checkProbability(std::string_view name, double probability);

// Throws Error if [self] does not consist of one row of float weights or a matrix of such rows from which [samples] can
// be drawn.
void checkMultinomial(const Tensor& self, int64_t samples, bool replacement);

}  // namespace boxcar::meta
