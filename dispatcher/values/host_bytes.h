#pragma once

#include <boxcar/ivalue/storage.h>
#include <boxcar/ivalue/tensor.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace boxcar {

// A range of bytes of a storage.
struct ByteRange {
  uint64_t first = 0;
  uint64_t count = 0;

  uint64_t end() const noexcept { return first + count; }
  bool contains(const ByteRange& other) const noexcept {
    return other.count == 0 || (first <= other.first && other.end() <= end());
  }
};

// Returns the smallest range that contains both.
ByteRange span(const ByteRange& a, const ByteRange& b) noexcept;

// Returns the bytes of its storage from the first to the last element of a tensor.
ByteRange reachedBytes(const Tensor& tensor) noexcept;

// Returns the elements of [dtype] in [range] as a 1-dimensional tensor over [storage]. The range must begin at an
// element and hold a whole number of elements.
Tensor flatElements(const Storage& storage, ByteRange range, ScalarType dtype);

// Makes bytes of [storage] readable by the host while it lives. Bytes on a device other than the CPU are copied; no
// handler sees the copy. The range must begin at an element of [dtype] and hold a whole number of them. Empty for a
// storage without memory. Throws Error if the device cannot copy.
class HostBytes final {
 public:
  HostBytes(const Storage& storage, ByteRange range, ScalarType dtype);
  std::span<const std::byte> get() const noexcept { return bytes_; }

 private:
  Tensor copy_;
  std::span<const std::byte> bytes_;
};

// The reverse: writes [bytes] to [storage], starting at byte [first].
void writeFromHost(const Storage& storage, uint64_t first, std::span<const std::byte> bytes, ScalarType dtype);

}  // namespace boxcar
