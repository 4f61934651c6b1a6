#pragma once

#include <boxcar/ivalue/intrusive_ptr.h>
#include <boxcar/ivalue/layout.h>
#include <boxcar/ivalue/storage.h>
#include <boxcar/ivalue/tensor.h>
#include <boxcar/ivalue/tensor_impl.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace boxcar::native {

// A boxed call hands its arguments over to the kernel. If the stack holds the last reference to a tensor, the tensor
// dies with the call, and the kernel may write its result over it.

// Whether the one reference that the caller has is the only one to [tensor], and the tensor's to its memory. It does
// not require grad.
inline bool isOnlyReference(const Tensor& tensor) {
  return tensor.unsafeGetTensorImpl()->useCount() == 1 && tensor.storage().use_count() == 1 && !tensor.requires_grad();
}

// Whether nobody but the one who holds [tensor] can see its memory, all of which it takes: no other reference, view or
// weak reference, no memory of another owner, nothing attached.
inline bool isLastReference(const Tensor& tensor) {
  if (!tensor.defined() || !tensor.is_cpu() || tensor.layout() != Layout::Strided || !isOnlyReference(tensor))
    return false;
  const Storage& storage = tensor.storage();
  return tensor.unsafeGetTensorImpl()->weakUseCount() == 1 && storage.weak_use_count() == 1 && !storage->isForeign() &&
         storage->nbytes() == static_cast<size_t>(tensor.numel()) * tensor.itemsize();
}

// Returns a new tensor of the dtype and sizes of [tensor], a last reference, on its memory, and counts the write to it.
inline Tensor overMemoryOf(const Tensor& tensor, std::span<const int64_t> strides) {
  tensor.storage()->bumpVersion();
  return Tensor(makeIntrusive<TensorImpl>(tensor.storage(), tensor.scalar_type(), tensor.sizes(), strides, 0));
}

}  // namespace boxcar::native
