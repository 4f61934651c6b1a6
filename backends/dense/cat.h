#pragma once

#include <boxcar/backends/dense/device_function.h>
#include <boxcar/backends/shape/join.h>
#include <boxcar/ivalue/tensor.h>

namespace boxcar::dense {

// Joins tensors that are contiguous, as [out] is, and of its type. False where that is better done part by part.
using JoinRows = bool(const Tensor& out, TensorList tensors, const shape::Joined& joined);
extern DeviceFunction<JoinRows> joinRows;

}  // namespace boxcar::dense
