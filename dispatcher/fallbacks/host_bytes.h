#pragma once

#include <boxcar/ivalue/storage.h>
#include <boxcar/ivalue/tensor.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace boxcar {

// Some bytes of a storage.
struct ByteRange {
  uint64_t first = 0;
  uint64_t count = 0;

  uint64_t end() const noexcept { return first + count; }
  bool contains(const ByteRange& other) const noexcept {
    return other.count == 0 || (first <= other.first && other.end() <= end());
  }
};

// The smallest range that has both.
ByteRange span(const ByteRange& a, const ByteRange& b) noexcept;

// The bytes of its storage that the elements of a tensor lie in, and between.
ByteRange reachedBytes(const Tensor& tensor) noexcept;

// The elements of [dtype] in [range], a whole number of them from an element on, as a tensor of one dimension over
// [storage].
Tensor flatElements(const Storage& storage, ByteRange range, ScalarType dtype);

// Shows bytes of [storage] where the host reads them, for as long as it lives: those of another device than the CPU as
// a copy, that no handler sees. They are a whole number of elements of [dtype] from an element on. None of a storage
// without memory. Throws Error where the device cannot copy.
class HostBytes final {
 public:
  HostBytes(const Storage& storage, ByteRange range, ScalarType dtype);
  std::span<const std::byte> get() const noexcept { return bytes_; }

 private:
  Tensor copy_;
  std::span<const std::byte> bytes_;
};

// Writes [bytes] to [storage], from byte [first] on: the reverse.
void writeFromHost(const Storage& storage, uint64_t first, std::span<const std::byte> bytes, ScalarType dtype);

}  // namespace boxcar
