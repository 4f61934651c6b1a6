#pragma once

#include <boxcar/backends/native/device_stub.h>
#include <boxcar/ivalue/tensor.h>

namespace boxcar::native {

// Writes the distances between the rows of [a] and of [b], which are matrices or batches of them, to [out]: the p-norms
// of their differences, with a row for each row of [a] and a column for each row of [b]. All are contiguous, of float32
// or float64, and [out] has elements. With [by_product], only if [p] is 2, uses |x - y|^2 = |x|^2 + |y|^2 - 2 x y.
using DistancesFunction = void(const Tensor& out, const Tensor& a, const Tensor& b, double p, bool by_product);
extern DeviceStub<DistancesFunction> rowDistances;

}  // namespace boxcar::native
