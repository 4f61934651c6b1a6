#pragma once

#include <boxcar/backends/cuda/kernels/offsets.h>
#include <boxcar/backends/functors/host_device.h>

#include <cstdint>
#include <type_traits>

namespace boxcar::cuda {

// Splits an element's linear index into indices along dimensions, one after another from the innermost. Index is
// uint32_t for fewer than 2^31 elements, which saves divisions, and int64_t for more.
template <class Index>
class Split;

template <>
class Split<uint32_t> final {
 public:
  explicit Split(int64_t size) : divider_(static_cast<uint32_t>(size)) {}
  // Removes this dimension's index from [number] and returns it.
  BOXCAR_HOST_DEVICE int64_t take(uint32_t& number) const {
    const uint32_t rest = divider_.divide(number);
    const uint32_t index = number - rest * divider_.divisor();
    number = rest;
    return index;
  }

 private:
  Divider divider_;
};

template <>
class Split<int64_t> final {
 public:
  explicit Split(int64_t size) : size_(size) {}
  BOXCAR_HOST_DEVICE int64_t take(int64_t& number) const {
    const int64_t index = number % size_;
    number /= size_;
    return index;
  }

 private:
  int64_t size_;
};

// Calls body(std::type_identity<Index>) with the index type for [n] elements.
template <class Body>
void visitIndex(int64_t n, const Body& body) {
  if (n <= INT32_MAX) return body(std::type_identity<uint32_t>{});
  body(std::type_identity<int64_t>{});
}

}  // namespace boxcar::cuda
