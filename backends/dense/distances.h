#pragma once

#include <boxcar/backends/dense/device_function.h>
#include <boxcar/ivalue/tensor.h>

namespace boxcar::dense {

// Writes the distances of the rows of [a] and of [b], matrices or batches of them, to [out], with a row for each of [a]
// and a column for each of [b]: the p-norms of their differences. All are contiguous, of float32 or float64, and [out]
// has elements. With [by_product], where [p] is 2, by |x - y|^2 = |x|^2 + |y|^2 - 2 x y.
using DistancesFunction = void(const Tensor& out, const Tensor& a, const Tensor& b, double p, bool by_product);
extern DeviceFunction<DistancesFunction> rowDistances;

}  // namespace boxcar::dense
