#pragma once

#include <boxcar/ivalue/device.h>
#include <boxcar/ivalue/macros.h>
#include <boxcar/ivalue/scalar_type.h>
#include <boxcar/ivalue/storage.h>
#include <boxcar/ivalue/tensor.h>

#include <cstddef>
#include <cstdint>
#include <span>

// Zero tensors: zeros without memory, which nobody may write. They have the key ZeroTensor, and so have views of them.

namespace boxcar {

// Whether [tensor] is a zero tensor.
inline bool isZeroTensor(const Tensor& tensor) noexcept {
  constexpr DispatchKeySet kKey(DispatchKey::ZeroTensor);  // known before the call, also in code for size
  return tensor.key_set().has_any(kKey);
}

// Returns zeros without memory, contiguous. Its storage has a size and no bytes; observers of storages are not told of
// it. Throws Error if there is no such tensor.
BOXCAR_API Tensor makeZeroTensor(std::span<const int64_t> sizes, ScalarType dtype, Device device);

// Returns zeros of the sizes and the dtype of [tensor] that can be read on the CPU: all of them are one element.
BOXCAR_API Tensor readableZeros(const Tensor& tensor);

namespace detail {

// Returns a storage that says it has [bytes], and has none.
Storage storageOfZeros(size_t bytes, Device device);

// Sets what is called before the first zero tensor is made, and maybe again: its kernels are registered then.
BOXCAR_API void setZeroTensorHook(void (*hook)()) noexcept;

}  // namespace detail

}  // namespace boxcar
