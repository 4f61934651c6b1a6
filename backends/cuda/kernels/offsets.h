#pragma once

#include <boxcar/backends/functors/host_device.h>

#include <bit>
#include <cstdint>

// Converts an element's linear index to its addresses in operands with any strides.

namespace boxcar::cuda {

// Division by an invariant number, as a multiplication and a shift, because an integer division takes a GPU some 20
// instructions. Numerators must be below 2^31. T. Granlund and P. L. Montgomery, "Division by invariant integers using
// multiplication", 1994.
class Divider final {
 public:
  Divider() = default;
  explicit Divider(uint32_t divisor) : divisor_(divisor) {
    shift_ = static_cast<uint32_t>(std::bit_width(divisor - 1));
    const uint64_t one = 1;
    multiplier_ = static_cast<uint32_t>(((one << 32) * ((one << shift_) - divisor)) / divisor + 1);
  }

  BOXCAR_HOST_DEVICE uint32_t divide(uint32_t n) const {
#ifdef __CUDA_ARCH__
    const uint32_t high = __umulhi(n, multiplier_);
#else
    const auto high = static_cast<uint32_t>(static_cast<uint64_t>(n) * multiplier_ >> 32);
#endif
    return (high + n) >> shift_;
  }
  BOXCAR_HOST_DEVICE uint32_t divisor() const { return divisor_; }

 private:
  uint32_t divisor_ = 1;
  uint32_t multiplier_ = 1;
  uint32_t shift_ = 0;
};

// Computes the addresses of [operands] operands from a linear index. Dimensions are innermost first; strides are in
// bytes.
template <int operands>
struct Offsets {
  static constexpr int kMaxRank = 12;

  int rank = 0;
  Divider sizes[kMaxRank];
  int64_t strides[kMaxRank][operands] = {};

  BOXCAR_HOST_DEVICE void at(uint32_t number, int64_t* offsets) const {
    for (int k = 0; k < operands; ++k) offsets[k] = 0;
    for (int dim = 0; dim < rank; ++dim) {
      const uint32_t rest = sizes[dim].divide(number);
      const uint32_t index = number - rest * sizes[dim].divisor();
      number = rest;
      for (int k = 0; k < operands; ++k) offsets[k] += static_cast<int64_t>(index) * strides[dim][k];
    }
  }
};

}  // namespace boxcar::cuda
