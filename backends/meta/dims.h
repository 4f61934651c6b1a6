#pragma once

#include <boxcar/ivalue/dims.h>
#include <boost/container/small_vector.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

namespace boxcar {

// The maximum number of dimensions of the tensors that operators take, on every device.
inline constexpr int kMaxDims = 64;

// Throws Error if there are more than kMaxDims dimensions.
void checkDims(size_t dims);

// Sizes, strides or dimension numbers while an operator computes them. Up to six need no allocation.
using DimVector = boost::container::small_vector<int64_t, 6>;

inline DimVector toDimVector(std::span<const int64_t> values) {
  DimVector result(values.size(), boost::container::default_init);
  copyDims(result.data(), values);
  return result;
}

// Returns a DimVector of [values]; cheaper than an initializer list.
template <std::same_as<int64_t>... Values>
DimVector dimVector(Values... values) {
  DimVector result(sizeof...(values), boost::container::default_init);
  int64_t* to = result.data();
  ((*to++ = values), ...);
  return result;
}

}  // namespace boxcar
