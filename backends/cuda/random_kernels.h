#pragma once

#include <boxcar/backends/cuda/failure.h>
#include <boxcar/ivalue/scalar_type.h>

#include <cstdint>

// Random numbers, which nvcc compiles. All tensors are contiguous. Numbers come from Philox blocks of [seed], from
// number [block] on: an element gets those at its place, however many threads there are.

namespace boxcar::cuda {

enum class Distribution : uint8_t { kUniform, kNormal, kExponential, kIntegers, kOnes };

struct RandomLaunch {
  Distribution distribution;
  void* out;
  ScalarType type;
  int64_t n;
  uint64_t seed;
  uint64_t block;
  // The bounds, mean and standard deviation, or the rate in [first].
  double first;
  double second;
  // The least integer, and how many there are: all of 64 bits when it is 0. Of ones, how many of 2^32 numbers give one.
  int64_t base;
  uint64_t count;

  // How many numbers of 32 bits an element gets.
  uint64_t words() const {
    if (distribution == Distribution::kOnes) return 1;
    if (distribution == Distribution::kIntegers) return count == 0 || count > uint64_t{1} << 32 ? 2 : 1;
    return type == ScalarType::Double ? 2 : 1;
  }
};
void launchRandom(const RandomLaunch& launch);

// Ones with the probabilities in [p], float32 or float64; a number for each.
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

// Samples of categories by rows of weights, float32 or float64.
struct CategoryLaunch {
  static constexpr int kParts = 256;  // that the categories of a row are summed in

  const void* weights;
  ScalarType type;  // of the weights
  int64_t rows;
  int64_t categories;
  int64_t samples;  // of each row
  int64_t* out;
  uint64_t seed;
  uint64_t block;
  Failure* failure;
  // Of samples that may repeat, which get two numbers each: room for the sums of each part's categories, as many as
  // there are weights, and for those of the parts before each, kParts + 1 for each row.
  double* sums;
  double* bases;
  // Of others, with two numbers for each weight: room for the weights divided by exponential numbers. The greatest of
  // them are the samples; where it is null, the greatest one is written to [out].
  double* keys;
};
void launchRepeatedCategories(const CategoryLaunch& launch);
void launchCategoryKeys(const CategoryLaunch& launch);

}  // namespace boxcar::cuda
