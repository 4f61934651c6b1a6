#pragma once

#include <boxcar/backends/autograd/node.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>
#include <span>

namespace boxcar::autograd {

// Returns a view of [tensor] whose keys Conjugate and Negative are those in [bits]; the same elements in memory.
Tensor withMathBits(Tensor tensor, DispatchKeySet bits);

// Returns the part of [base] that lies in it as a view with [sizes], [strides] and [offset], and the keys Conjugate and
// Negative in [bits], lies in a tensor of the layout and the keys of [base] that begins at [base_offset]. One of the
// two may be complex, the other real.
Tensor partLike(const Tensor& base, int64_t base_offset, std::span<const int64_t> sizes,
                std::span<const int64_t> strides, int64_t offset, bool is_complex, DispatchKeySet bits);

// Returns the backward of a view of [base] with the sizes, strides and offset of [view]; its edge leads to [base].
IntrusivePtr<Node> makeAsStridedBackward(const Tensor& base, const Tensor& view);

// Returns the backward of a write to [view], a view of [base]: [written] is that of the write alone, and its edge 0 is
// that of [view]. The result is the backward of [base] after the write; its edge 0 leads to [base] as it was.
IntrusivePtr<Node> makeCopySlices(const Tensor& base, const Tensor& view, const IntrusivePtr<Node>& written);

}  // namespace boxcar::autograd
