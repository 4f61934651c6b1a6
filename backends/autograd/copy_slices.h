#pragma once

#include <boxcar/backends/autograd/node.h>

namespace boxcar::autograd {

// Returns the backward of a view of [base] with the sizes, strides and offset of [view]; its edge leads to [base].
IntrusivePtr<Node> makeAsStridedBackward(const Tensor& base, const Tensor& view);

// Returns the backward of a write to [view], a view of [base]: [written] is that of the write alone, and its edge 0 is
// that of [view]. The result is the backward of [base] after the write; its edge 0 leads to [base] as it was.
IntrusivePtr<Node> makeCopySlices(const Tensor& base, const Tensor& view, const IntrusivePtr<Node>& written);

}  // namespace boxcar::autograd
