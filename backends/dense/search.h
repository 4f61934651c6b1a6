#pragma once

#include <boxcar/backends/dense/device_function.h>
#include <boxcar/ivalue/tensor.h>

#include <string_view>

namespace boxcar::dense {

// Where values lie among boundaries. All tensors are contiguous and on one device; values and boundaries have one
// dtype. Boundaries of one dimension are those of all values, else each row has its own.
struct SearchCall {
  std::string_view name;
  Tensor boundaries;
  Tensor values;
  Tensor sorter;  // the order of the boundaries, int64; undefined where they are in order
  bool right;
};

// Writes the places, int32 or int64, to [out], which has elements. An Error when the sorter has an index that is out of
// range.
using SearchRows = void(const SearchCall& call, const Tensor& out);
extern DeviceFunction<SearchRows> searchRows;

}  // namespace boxcar::dense
