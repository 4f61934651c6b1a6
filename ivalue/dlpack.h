#pragma once

#include <boxcar/ivalue/macros.h>
#include <boxcar/ivalue/tensor.h>

// DLPack's structure, defined in dlpack/dlpack.h, which may be included beside this file, or in dlpack_abi.h.
struct DLManagedTensorVersioned;

namespace boxcar {

// Shares tensors with other libraries without a copy, by DLPack 1 (dmlc.github.io/dlpack):
//
//   DLManagedTensorVersioned* managed = toDLPack(x);   // for a consumer of DLPack's versioned structure
//   const Tensor y = fromDLPack(managed);              // from a producer of it
//
// Both sides see each other's writes; boxcar does not count the other side's writes (Tensor::version()). The memory can
// be on the CPU, pinned or not, or on a CUDA device. DLPack names no stream for CUDA memory: work on it must be
// finished when it changes hands, and also when the last tensor goes.

// Lends the tensor's memory. The structure's deleter ends the loan, once, on any thread; until then the storage lives
// on and must not be resized. The address of the first element has its dtype's alignment, which may be less than
// DLPack's 256 bytes; byte_offset is 0. A tensor without elements has no address. A copy is lent of a tensor that is
// conjugated or negated lazily. Throws Error for an undefined tensor,
// one on another device than the CPU and CUDA, and one that requires grad.
[[nodiscard]] BOXCAR_API DLManagedTensorVersioned* toDLPack(const Tensor& tensor);

// What to do with CPU memory that a tensor cannot share: read-only memory, because operators may write to any tensor,
// and memory whose elements are not aligned.
enum class DLPackCopy { Never, WhereNeeded };

// Returns a tensor over the memory of [managed]. The deleter of [managed] is called when the last tensor on it goes, or
// at once where the elements were copied. Bools must be 0 or 1. Throws Error where boxcar has no such tensor; [managed]
// then stays the caller's, even if its major version is unknown, and releaseDLPack() frees it.
BOXCAR_API Tensor fromDLPack(DLManagedTensorVersioned* managed, DLPackCopy copy = DLPackCopy::Never);

// Ends a loan that nobody took: calls the deleter, if there is one. Null is allowed.
BOXCAR_API void releaseDLPack(DLManagedTensorVersioned* managed) noexcept;

}  // namespace boxcar
