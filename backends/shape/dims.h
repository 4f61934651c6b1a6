#pragma once

#include <boxcar/ivalue/dims.h>
#include <boost/container/small_vector.hpp>

#include <concepts>
#include <cstdint>
#include <span>

namespace boxcar {

// Operators take tensors of at most so many dimensions, on every device.
inline constexpr int kMaxDims = 64;

// Sizes, strides or dimension numbers while an operator works them out; no allocation up to six of them.
using DimVector = boost::container::small_vector<int64_t, 6>;

inline DimVector toDimVector(std::span<const int64_t> values) {
  DimVector result(values.size(), boost::container::default_init);
  copyDims(result.data(), values);
  return result;
}

// The same of so many numbers, for less than an initializer list costs.
template <std::same_as<int64_t>... Values>
DimVector dimVector(Values... values) {
  DimVector result(sizeof...(values), boost::container::default_init);
  int64_t* to = result.data();
  ((*to++ = values), ...);
  return result;
}

}  // namespace boxcar
