#pragma once

#include <boxcar/backends/dense/device_function.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>
#include <optional>

namespace boxcar::dense {

// Each place of [counts], int32 or int64 and contiguous, as often as its element says. An Error when one is negative,
// or when there are not [size] in all, if that is given.
using RepeatPlaces = Tensor(const Tensor& counts, std::optional<int64_t> size);
extern DeviceFunction<RepeatPlaces> repeatPlaces;

}  // namespace boxcar::dense
