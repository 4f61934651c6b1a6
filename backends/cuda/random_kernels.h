#pragma once

#include <boxcar/backends/cuda/failure.h>
#include <boxcar/ivalue/scalar_type.h>

#include <cstdint>

// Random numbers, which nvcc compiles. All tensors are contiguous. Numbers come from the Philox blocks of [seed],
// starting at block number [block]. Each element gets the numbers at its position, for any number of threads.

namespace boxcar::cuda {

enum class Distribution : uint8_t { kUniform, kNormal, kExp, kIntegers, kOnes };

struct RandomLaunch {
  Distribution distribution;
  void* out;
  ScalarType type;
  int64_t n;
  uint64_t seed;
  uint64_t block;
  // The bounds; the mean and standard deviation; or the rate, in [first].
  double first;
  double second;
  // The smallest integer and the number of integers, where 0 means all 64-bit values. For ones, how many of 2^32
  // numbers give a one.
  int64_t base;
  uint64_t count;

  // Returns how many 32-bit numbers an element uses.
  uint64_t words() const {
    if (distribution == Distribution::kOnes) return 1;
    if (distribution == Distribution::kIntegers) return count == 0 || count > uint64_t{1} << 32 ? 2 : 1;
    return type == ScalarType::Double ? 2 : 1;
  }
};
void launchRandom(const RandomLaunch& launch);

// Ones with the probabilities in [p], float32 or float64; one number per element.
struct OnesLaunch {
  const void* p;
  ScalarType type;  // of [p]
  bool* out;
  int64_t n;
  uint64_t seed;
  uint64_t block;
  Failure* failure;
};
void launchOnesOfEach(const OnesLaunch& launch);

// Samples categories by rows of weights, float32 or float64.
struct CategoryLaunch {
  static constexpr int kParts = 256;  // into which the categories of a row are divided for summing

  const void* weights;
  ScalarType type;  // of the weights
  int64_t rows;
  int64_t categories;
  int64_t samples;  // of each row
  int64_t* out;
  uint64_t seed;
  uint64_t block;
  Failure* failure;
  // For samples with replacement, which use two numbers each: room for the running sums within each part, one per
  // weight, and for the sums of all parts before each part, kParts + 1 per row.
  double* sums;
  double* bases;
  // For samples without replacement, which use two numbers per weight: room for the weights divided by exponential
  // random numbers. The largest of these keys are the samples. If null, the category with the largest key is written to
  // [out].
  double* keys;
};
void launchRepeatedCategories(const CategoryLaunch& launch);
void launchCategoryKeys(const CategoryLaunch& launch);

}  // namespace boxcar::cuda
