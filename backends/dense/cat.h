#pragma once

#include <boxcar/backends/dense/device_function.h>
#include <boxcar/backends/shape/join.h>
#include <boxcar/ivalue/tensor.h>

namespace boxcar::dense {

// Joins [tensors] into [out]; all are contiguous and of one type. Returns false if copying part by part is better.
using JoinRows = bool(const Tensor& out, TensorList tensors, const shape::Joined& joined);
extern DeviceFunction<JoinRows> joinRows;

}  // namespace boxcar::dense
