#pragma once

#include <boxcar/backends/native/device_stub.h>
#include <boxcar/ivalue/tensor.h>

#include <string_view>

namespace boxcar::native {

// A search for the positions of values among boundaries. All tensors are contiguous and on one device; values and
// boundaries have one dtype. One-dimensional boundaries apply to all values, else each row has its own.
struct SearchCall {
  std::string_view name;
  Tensor boundaries;
  Tensor values;
  Tensor sorter;  // the order of the boundaries, int64; undefined if they are sorted
  bool right;
};

// Writes the positions, int32 or int64, to [out], which has elements. Throws Error if the sorter has an index that is
// out of range.
using SearchRows = void(const SearchCall& call, const Tensor& out);
extern DeviceStub<SearchRows> searchRows;

}  // namespace boxcar::native
