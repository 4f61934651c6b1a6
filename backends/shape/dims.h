#pragma once

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <span>

namespace boxcar {

// Sizes, strides or dimension numbers while an operator works them out; no allocation up to six of them.
using DimVector = boost::container::small_vector<int64_t, 6>;

inline DimVector toDimVector(std::span<const int64_t> values) { return DimVector(values.begin(), values.end()); }

}  // namespace boxcar
