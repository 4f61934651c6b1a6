#pragma once

#include <boxcar/backends/meta/join.h>
#include <boxcar/backends/native/device_stub.h>
#include <boxcar/ivalue/tensor.h>

namespace boxcar::native {

// Joins [tensors] into [out]; all are contiguous and of one type. Returns false if copying part by part is better.
using JoinRows = bool(const Tensor& out, TensorList tensors, const meta::Joined& joined);
extern DeviceStub<JoinRows> joinRows;

}  // namespace boxcar::native
