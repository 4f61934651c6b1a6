#pragma once

#include <boxcar/backends/native/device_stub.h>
#include <boxcar/ivalue/tensor.h>

#include <string_view>

// The result size is the number of distinct elements, which is unknown until they are read.

namespace boxcar::native {

// Groups of equal consecutive items, after sorting if requested: the first item of each group, the group number of each
// item, and the number of items per group.
struct Groups {
  Tensor found;
  Tensor inverse;  // int64 and one-dimensional, like counts; each is empty if not wanted
  Tensor counts;
};

struct UniqueCall {
  std::string_view name;
  bool sorts;
  bool wants_inverse;
  bool wants_counts;
};

// Returns the groups of the elements of [flat], which is contiguous. Elements are compared by value; NaN is not equal
// even to itself.
using UniqueElements = Groups(const UniqueCall& call, const Tensor& flat);
extern DeviceStub<UniqueElements> uniqueElements;

// Returns the groups of the slices of the first dimension of [slices], which is contiguous.
using UniqueSlices = Groups(const UniqueCall& call, const Tensor& slices);
extern DeviceStub<UniqueSlices> uniqueSlices;

}  // namespace boxcar::native
