#pragma once

#include <boxcar/backends/native/device_stub.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>

namespace boxcar::native {

// The maximum number of bins, as each count takes eight bytes.
inline constexpr int64_t kMaxBins = int64_t{1} << 58;

// Throws Error if [number], the least or the greatest of the counted numbers, is out of range.
void checkCounted(int64_t number);

// Returns how often each of [numbers], int64, occurs, or the sums of their [weights], float32 or float64, if defined.
// The result has at least [minlength] bins. All tensors are contiguous and one-dimensional.
using CountNumbers = Tensor(const Tensor& numbers, const Tensor& weights, int64_t minlength);
extern DeviceStub<CountNumbers> countNumbers;

}  // namespace boxcar::native
