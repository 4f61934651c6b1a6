#pragma once

#include <boxcar/backends/native/device_stub.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>
#include <optional>

namespace boxcar::native {

// Returns each index of [counts], int32 or int64 and contiguous, repeated as often as its element says. Throws Error if
// a count is negative, or if [size] is given and is not the total.
using RepeatPlaces = Tensor(const Tensor& counts, std::optional<int64_t> size);
extern DeviceStub<RepeatPlaces> repeatPlaces;

}  // namespace boxcar::native
