#pragma once

#include <boxcar/ivalue/macros.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>
#include <string>

// Tensors inside func::vmap(). A batched tensor has the sizes that the function sees, and stands for one slice of the
// tensor inside it, whose first dimension is the batch. It shares that tensor's memory; its address is the first
// slice's. Its key, FuncTorchBatched, leads each call to batched_kernel.cpp. Tensors of several levels lie in each
// other, the innermost function's outermost.

namespace boxcar::transforms {

// Whether [tensor] is batched, at any level.
inline bool isBatched(const Tensor& tensor) noexcept { return tensor.key_set().has_any(functorch_batched_ks); }

// The level of a batched tensor; 0 for others. Throws Error if a kernel made a view of a batched tensor by itself.
BOXCAR_API uint64_t levelOf(const Tensor& tensor);
// The tensor inside a batched one.
BOXCAR_API const Tensor& innerOf(const Tensor& tensor);

// Returns [inner], whose first dimension is the batch of [level], as a batched tensor. It may itself be batched at
// levels further out.
BOXCAR_API Tensor makeBatched(const Tensor& inner, uint64_t level);
// The keys of a batched tensor, of those of the tensor inside: a gradient is recorded for what is inside it.
BOXCAR_API DispatchKeySet batchedKeys(DispatchKeySet inner);
// Gives a batched tensor the sizes of what is inside it, after that was changed in place.
void refreshBatched(const Tensor& tensor);
// Puts another tensor into a batched one.
void replaceInner(const Tensor& tensor, const Tensor& inner);

// Returns the text of a batched tensor, with all slices; empty for any other.
std::string batchedText(const Tensor& tensor);

// Returns [tensor] with the batch of [level] as its first dimension, whatever levels it has besides; undefined if it is
// not batched there.
BOXCAR_API Tensor withoutLevel(const Tensor& tensor, uint64_t level);
// Reverses withoutLevel(): [tensor]'s first dimension becomes the batch of [level], beneath the levels further in.
BOXCAR_API Tensor withLevel(const Tensor& tensor, uint64_t level);
// Returns [tensor] with [batch] copies of it, which share memory, along a new first dimension.
BOXCAR_API Tensor expandedBy(const Tensor& tensor, int64_t batch);

}  // namespace boxcar::transforms
