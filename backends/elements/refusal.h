#pragma once

#include <cstdint>

namespace boxcar::elements {

// What a function of elements refuses. On the CPU it throws; a kernel on a GPU cannot, and notes it (cuda/failure.h). A
// functor that refuses something has
//   static bool accepts(inputs…)        whether it takes them
//   static constexpr Refusal kRefusal   why not
enum class Refusal : uint32_t {
  kNone = 0,
  kZeroDivision,
  kNotProbability,  // an input of binary_cross_entropy or bernoulli is not between 0 and 1
  kIndex,           // not one of the elements along a dimension
  kClass,           // not one of the classes
  kWeight,          // a weight of multinomial is negative, infinite or not a number
  kNoWeight,        // all weights of a row are 0
};

}  // namespace boxcar::elements
