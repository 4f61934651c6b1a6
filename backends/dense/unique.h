#pragma once

#include <boxcar/backends/dense/device_function.h>
#include <boxcar/ivalue/tensor.h>

#include <string_view>

// Results are as large as there are different elements, which is not known without looking.

namespace boxcar::dense {

// Equal things that follow each other, once they are sorted: what stands for each group, the first of them; the number
// of each thing's group; and how many things are in each.
struct Groups {
  Tensor found;
  Tensor inverse;  // int64, of one dimension, as the counts; both are empty where they are not wanted
  Tensor counts;
};

struct UniqueCall {
  std::string_view name;
  bool sorts;
  bool wants_inverse;
  bool wants_counts;
};

// The groups of the elements of [flat], which is contiguous. Elements differ by value; NaN is not even equal to itself.
using UniqueElements = Groups(const UniqueCall& call, const Tensor& flat);
extern DeviceFunction<UniqueElements> uniqueElements;

// The same of the slices of the first dimension of [slices], which is contiguous.
using UniqueSlices = Groups(const UniqueCall& call, const Tensor& slices);
extern DeviceFunction<UniqueSlices> uniqueSlices;

}  // namespace boxcar::dense
