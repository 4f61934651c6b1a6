#pragma once

#include <boxcar/ivalue/macros.h>
#include <boxcar/ivalue/tensor.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace boxcar {

// Whether the tensor has bytes: an undefined tensor, one on the meta device, a fake one and a zero
// tensor have none.
BOXCAR_API bool hasBytes(const Tensor& tensor) noexcept;

// Calls aten::copy_, which copies elements between any devices, on behalf of a handler: no observer of calls sees it
// (hidden_calls.h).
BOXCAR_API void copyHidden(const Tensor& to, const Tensor& from);

// Calls [op], aten::_conj or aten::_neg_view, in the same way; the result is no view of [tensor].
Tensor withOtherBitHidden(const Tensor& tensor, const char* op);

// Returns [tensor] itself if it is on the CPU, else a copy there, made by aten::copy_ of a single row of elements,
// which every device supports. The tensor must have bytes.
BOXCAR_API Tensor onCpu(const Tensor& tensor);

// Returns the whole storage as a 1-dimensional tensor of bytes over the same memory.
BOXCAR_API Tensor bytesOfStorage(const Storage& storage);

// The bytes of a tensor's elements, in the order of its dimensions, whatever its strides and device. Those of a
// contiguous CPU tensor are not copied. Zeros for a zero tensor; empty for another one without bytes.
class BOXCAR_API ElementBytes final {
 public:
  explicit ElementBytes(const Tensor& tensor);

  std::span<const std::byte> bytes() const noexcept { return bytes_; }

 private:
  Tensor tensor_;
  std::vector<std::byte> gathered_;
  std::span<const std::byte> bytes_;
};

// Returns where each element begins in the storage, in bytes, in the order of the dimensions.
BOXCAR_API std::vector<int64_t> elementOffsets(const Tensor& tensor);

// Whether both have the same dtype, sizes and element bits, so that a NaN equals itself. Tensors without bytes are
// compared by dtype and sizes.
BOXCAR_API bool sameBits(const Tensor& a, const Tensor& b);

}  // namespace boxcar
