#include <boxcar/backends/composite/write_out.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ops.h>

#include <span>

// Gradients of views, which PyTorch's programs call by name.

namespace boxcar::composite {
namespace {

using SizeSpan = std::span<const int64_t>;

Tensor zerosFor(const Tensor& grad, SizeSpan sizes) { return boxcar::new_zeros(grad, sizes); }

Tensor selectBackward(const Tensor& grad_output, SizeSpan input_sizes, int64_t dim, int64_t index) {
  Tensor gradient = zerosFor(grad_output, input_sizes);
  Tensor part = boxcar::select(gradient, dim, index);
  boxcar::copy_(part, grad_output);
  return gradient;
}
Tensor& selectBackwardOut(const Tensor& grad_output, SizeSpan input_sizes, int64_t dim, int64_t index, Tensor& out) {
  return writeSameType(out, selectBackward(grad_output, input_sizes, dim, index));
}

Tensor sliceBackward(const Tensor& grad_output, SizeSpan input_sizes, int64_t dim, int64_t start, int64_t end,
                     int64_t step) {
  Tensor gradient = zerosFor(grad_output, input_sizes);
  Tensor part = boxcar::slice(gradient, dim, start, end, step);
  boxcar::copy_(part, grad_output);
  return gradient;
}
Tensor& sliceBackwardOut(const Tensor& grad_output, SizeSpan input_sizes, int64_t dim, int64_t start, int64_t end,
                         int64_t step, Tensor& out) {
  return writeSameType(out, sliceBackward(grad_output, input_sizes, dim, start, end, step));
}

Tensor diagonalBackward(const Tensor& grad_output, SizeSpan input_sizes, int64_t offset, int64_t dim1, int64_t dim2) {
  Tensor gradient = zerosFor(grad_output, input_sizes);
  Tensor part = boxcar::diagonal(gradient, offset, dim1, dim2);
  boxcar::copy_(part, grad_output);
  return gradient;
}
Tensor& diagonalBackwardOut(const Tensor& grad_output, SizeSpan input_sizes, int64_t offset, int64_t dim1, int64_t dim2,
                            Tensor& out) {
  return writeSameType(out, diagonalBackward(grad_output, input_sizes, offset, dim1, dim2));
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("select_backward", BOXCAR_FN(selectBackward));
  m.impl("select_backward.out", BOXCAR_FN(selectBackwardOut));
  m.impl("slice_backward", BOXCAR_FN(sliceBackward));
  m.impl("slice_backward.out", BOXCAR_FN(sliceBackwardOut));
  m.impl("diagonal_backward", BOXCAR_FN(diagonalBackward));
  m.impl("diagonal_backward.out", BOXCAR_FN(diagonalBackwardOut));
}

}  // namespace boxcar::composite
