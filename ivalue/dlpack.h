#pragma once

#include <boxcar/ivalue/macros.h>
#include <boxcar/ivalue/tensor.h>

// DLPack's structure, as it stands in dlpack/dlpack.h, which may be included beside this, or in dlpack_abi.h.
struct DLManagedTensorVersioned;

namespace boxcar {

// Tensors for other libraries, and of other libraries, without a copy, by DLPack 1 (dmlc.github.io/dlpack):
//
//   DLManagedTensorVersioned* managed = toDLPack(x);   // for somebody who takes DLPack's versioned structure
//   const Tensor y = fromDLPack(managed);              // of somebody who gives it
//
// Both sides see what either writes; boxcar does not count the other side's writes (Tensor::version()). What goes over
// is memory on the CPU, pinned or not, and on a CUDA device. There DLPack names no stream: work on the memory has to be
// finished when it changes hands, and also when the last tensor goes.

// A loan of the tensor's memory, which the structure's deleter ends, once, on any thread; until then the storage lives
// on and must not be resized. The address of the first element is aligned as its dtype needs it, which may be less than
// DLPack's 256 bytes; byte_offset is 0. A tensor without elements has no address. An Error for an undefined tensor, one
// on another device than the CPU and CUDA, and one that requires grad.
[[nodiscard]] BOXCAR_API DLManagedTensorVersioned* toDLPack(const Tensor& tensor);

// What to do with memory on the CPU that a tensor cannot share: where it is read-only, for operators may write to any
// tensor, and where its elements are not aligned.
enum class DLPackCopy { Never, WhereNeeded };

// A tensor over the memory of [managed], whose deleter is called when the last tensor on it goes, or at once where the
// elements were copied. Bools have to be 0 or 1. An Error where boxcar has no such tensor; then [managed] stays the
// caller's, also where its major version is unknown, and releaseDLPack() frees it.
BOXCAR_API Tensor fromDLPack(DLManagedTensorVersioned* managed, DLPackCopy copy = DLPackCopy::Never);

// Ends a loan that nobody took: calls the deleter, if there is one. Null is fine.
BOXCAR_API void releaseDLPack(DLManagedTensorVersioned* managed) noexcept;

}  // namespace boxcar
