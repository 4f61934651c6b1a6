#pragma once

#include <boxcar/backends/dense/device_function.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>

namespace boxcar::dense {

// The most bins that a count, eight bytes each, can be held of.
inline constexpr int64_t kMaxBins = int64_t{1} << 58;

// An Error when [number], the least or the greatest of those that are counted, is none that can be.
void checkCounted(int64_t number);

// How often each of [numbers], int64, occurs; or the sums of their [weights], float32 or float64, where those are
// defined. At least [minlength] bins. All are contiguous and of one dimension.
using CountNumbers = Tensor(const Tensor& numbers, const Tensor& weights, int64_t minlength);
extern DeviceFunction<CountNumbers> countNumbers;

}  // namespace boxcar::dense
