#include <boxcar/backends/autograd/formula_functions.h>
#include <boxcar/backends/meta/defined.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ops.h>

#include <span>

// Gradients of selections and of cumprod, which PyTorch's programs call by name. They are made of what formulas call.

namespace boxcar::autograd {
namespace {

using SizeSpan = std::span<const int64_t>;

Tensor indexSelectBackward(const Tensor& grad, SizeSpan self_sizes, int64_t dim, const Tensor& index) {
  return boxcar::index_add(boxcar::new_zeros(grad, self_sizes), dim, index, grad);
}

Tensor maskedSelectBackward(const Tensor& grad, const Tensor& input, const Tensor& mask) {
  meta::checkDefined(input);
  return masked_select_self(grad, input.sizes(), mask);
}

Tensor valueSelectingReductionBackward(const Tensor& grad, int64_t dim, const Tensor& indices, SizeSpan sizes,
                                       bool keepdim) {
  return into_places(grad, sizes, dim, indices, keepdim);
}

Tensor cumprodBackward(const Tensor& grad, const Tensor& input, int64_t dim, const Tensor& output) {
  meta::checkDefined(grad);
  meta::checkDefined(input);
  return cumprod_self(grad, input, dim, output);
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) {
  m.impl("index_select_backward", BOXCAR_FN(indexSelectBackward));
  m.impl("masked_select_backward", BOXCAR_FN(maskedSelectBackward));
  m.impl("value_selecting_reduction_backward", BOXCAR_FN(valueSelectingReductionBackward));
  m.impl("cumprod_backward", BOXCAR_FN(cumprodBackward));
}

}  // namespace boxcar::autograd
