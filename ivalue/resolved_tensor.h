#pragma once

#include <boxcar/ivalue/macros.h>
#include <boxcar/ivalue/tensor.h>

#include <string_view>

namespace boxcar {

// The keys of tensors whose memory holds the complex conjugates of their elements (Conjugate), or the negatives
// (Negative). Views have these keys of their base.
inline constexpr DispatchKeySet math_bits_ks({DispatchKey::Conjugate, DispatchKey::Negative});

// The keys that say what the memory of a tensor stands for. A kernel below such a key that gets the tensor as it is
// would read other elements, or memory that is not there.
inline constexpr DispatchKeySet representation_ks =
    math_bits_ks.add(DispatchKeySet({DispatchKey::Fake, DispatchKey::ZeroTensor, DispatchKey::FuncTorchBatched}));

inline bool hasMathBits(const Tensor& tensor) noexcept { return tensor.key_set().has_any(math_bits_ks); }
// Whether its memory does not hold its elements because they are conjugated, negated or zero lazily.
inline bool isLazy(const Tensor& tensor) noexcept {
  return tensor.key_set().has_any(math_bits_ks.add(DispatchKey::ZeroTensor));
}

// Gives [to] the keys Conjugate and Negative where [from] has them, and only there. For code that makes a tensor that
// stands for another one.
inline void takeMathBits(const Tensor& to, const Tensor& from) noexcept {
  TensorImpl* const impl = to.unsafeGetTensorImpl();
  impl->set_key_set((impl->key_set() - math_bits_ks) | (from.key_set() & math_bits_ks));
}

// Returns a view of [tensor], with its history, in which [key] is the other way: the same elements in memory, and other
// elements of the tensor.
BOXCAR_API Tensor withOtherBit(const Tensor& tensor, DispatchKey key);

// Returns a tensor without the keys Conjugate and Negative whose elements are what the memory of [tensor] holds; no
// view of it, and without its history.
BOXCAR_API Tensor withoutMathBits(const Tensor& tensor);

// Returns a strided tensor whose memory holds the elements of [tensor]: [tensor] itself if its memory does; one zero in
// all places for a zero tensor (zero_tensor.h). Nobody sees what the copy takes, and it is not recorded for
// differentiation. For what reads memory without an operator, such as files and other libraries.
BOXCAR_API Tensor resolved(const Tensor& tensor);

// Returns why there are no elements of [tensor] in any memory, not even in that of resolved(), and what to do about it,
// as the end of a sentence; empty if there are. To be asked by what reads memory without an operator.
BOXCAR_API std::string_view whyUnreadable(const Tensor& tensor) noexcept;

// Makes a copy of a tensor with one of the keys. The backends provide it when the first one is made; ivalue/ does not
// know operators.
using ResolveTensor = Tensor (*)(const Tensor& tensor);
BOXCAR_API void setResolveTensor(ResolveTensor resolve) noexcept;

namespace detail {

// Sets what withOtherBit() calls first: the kernels at the two keys are registered then.
BOXCAR_API void setMathBitsHook(void (*hook)()) noexcept;

}  // namespace detail

}  // namespace boxcar
