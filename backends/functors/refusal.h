#pragma once

#include <cstdint>

namespace boxcar::functors {

// The reasons why an element function refuses its inputs. On the CPU it throws; a GPU kernel cannot, and records the
// refusal (cuda/failure.h). A functor that refuses inputs has
//   static bool accepts(inputs…)        whether it accepts them
//   static constexpr Refusal kRefusal   the reason if not
enum class Refusal : uint32_t {
  kNone = 0,
  kZeroDivision,
  kNotProbability,  // an input of binary_cross_entropy or bernoulli is not between 0 and 1
  kIndex,           // an index is out of range along a dimension
  kClass,           // a target is not one of the classes
  kWeight,          // a weight of multinomial is negative, infinite or not a number
  kNoWeight,        // all weights of a row are 0
};

// Whether the functor F refuses inputs. It asks for the constant only: nvcc took a requires-expression in a kernel that
// calls accepts() for false.
template <class F>
concept Refuses = requires {
  F::kRefusal;
};

}  // namespace boxcar::functors
