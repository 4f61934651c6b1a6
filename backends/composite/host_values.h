#pragma once

#include <boxcar/ivalue/tensor.h>
#include <boxcar/ops.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

// Tables that composites compute on the host.

namespace boxcar::composite {

// Returns a tensor of one dimension with [values] on [device].
template <class T>
Tensor tensorOf(std::span<const T> values, Device device) {
  constexpr ScalarType type = scalarTypeOf<T>;
  const std::array<int64_t, 1> sizes = {static_cast<int64_t>(values.size())};
  if (device.is_meta()) return Tensor::allocate(sizes, type, device);
  const Tensor result = Tensor::allocate(sizes, type, Device(DeviceType::CPU));
  std::ranges::copy(values, result.mutable_data_ptr<T>());
  return device.is_cpu() ? result : boxcar::to(result, device, type);
}

}  // namespace boxcar::composite
