#pragma once

#include <boxcar/ivalue/macros.h>
#include <boxcar/ivalue/tensor.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace boxcar {

// Whether there are bytes to look at: an undefined tensor and one on the meta device have none.
BOXCAR_API bool hasBytes(const Tensor& tensor) noexcept;

// Calls aten::copy_, which brings elements from any device to any other, for a handler itself: nobody who looks on at
// calls sees it (hidden_calls.h).
BOXCAR_API void copyHidden(const Tensor& to, const Tensor& from);

// [tensor] itself where it lies on the CPU, else a copy there, made by aten::copy_ of one row of elements, which any
// device's can. It must have bytes.
BOXCAR_API Tensor onCpu(const Tensor& tensor);

// All of a storage as one row of bytes, a tensor over the same memory.
BOXCAR_API Tensor bytesOfStorage(const Storage& storage);

// The bytes of a tensor's elements, in the order of its dimensions, whatever its strides and its device. Those of a
// contiguous tensor on the CPU are not copied. None of a tensor without bytes.
class BOXCAR_API ElementBytes final {
 public:
  explicit ElementBytes(const Tensor& tensor);

  std::span<const std::byte> bytes() const noexcept { return bytes_; }

 private:
  Tensor tensor_;
  std::vector<std::byte> gathered_;
  std::span<const std::byte> bytes_;
};

// Where each element begins in the storage, in bytes, in the order of the dimensions.
BOXCAR_API std::vector<int64_t> elementOffsets(const Tensor& tensor);

// Both have one dtype, the same sizes, and elements of the same bits, so that a NaN equals itself. Tensors without
// bytes are compared by dtype and sizes.
BOXCAR_API bool sameBits(const Tensor& a, const Tensor& b);

}  // namespace boxcar
