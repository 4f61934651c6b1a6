#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>

#include <limits>
#include <optional>
#include <tuple>

// Operators that are other operators under a different name or for more dtypes.

namespace boxcar::composite {
namespace {

using OptionalType = std::optional<ScalarType>;

// Converts integers and bools to floats.
Tensor toFloating(const Tensor& self, OptionalType dtype) {
  if (dtype.has_value()) return boxcar::to(self, *dtype);
  return self;
}

Tensor softmax(const Tensor& self, int64_t dim, OptionalType dtype) {
  return boxcar::_softmax(toFloating(self, dtype), dim, /*half_to_float=*/false);
}

Tensor logSoftmax(const Tensor& self, int64_t dim, OptionalType dtype) {
  return boxcar::_log_softmax(toFloating(self, dtype), dim, /*half_to_float=*/false);
}

Tensor safeSoftmax(const Tensor& self, int64_t dim, OptionalType dtype) {
  const Tensor given = toFloating(self, dtype);
  Tensor result = boxcar::_softmax(given, dim, /*half_to_float=*/false);
  if (given.numel() == 0) return result;
  constexpr double kLeast = -std::numeric_limits<double>::infinity();
  return boxcar::masked_fill(result, boxcar::all(boxcar::eq(given, kLeast), dim, /*keepdim=*/true), 0);
}

Tensor preluKernel(const Tensor& self, const Tensor& weight) {
  BOXCAR_CHECK(self.is_floating_point() && self.scalar_type() == weight.scalar_type(),
               "_prelu_kernel: expected self and weight of the same floating-point dtype, but got {} and {}",
               dtypeName(self.scalar_type()), dtypeName(weight.scalar_type()));
  return boxcar::where(boxcar::gt(self, 0), self, boxcar::mul(self, weight));
}

std::tuple<Tensor, Tensor> preluKernelBackward(const Tensor& grad_output, const Tensor& self, const Tensor& weight) {
  BOXCAR_CHECK(
      self.is_floating_point() && self.scalar_type() == weight.scalar_type() &&
          self.scalar_type() == grad_output.scalar_type(),
      "_prelu_kernel_backward: expected grad_output, self and weight of the same floating-point dtype, but got "
      "{}, {} and {}",
      dtypeName(grad_output.scalar_type()), dtypeName(self.scalar_type()), dtypeName(weight.scalar_type()));
  const Tensor is_positive = boxcar::gt(self, 0);
  return {boxcar::where(is_positive, grad_output, boxcar::mul(weight, grad_output)),
          boxcar::where(is_positive, 0, boxcar::mul(self, grad_output))};
}

Tensor square(const Tensor& self) { return boxcar::pow(self, 2); }
Tensor& squareInPlace(Tensor& self) { return boxcar::pow_(self, 2); }
Tensor& squareOut(const Tensor& self, Tensor& out) { return boxcar::pow_out(out, self, 2); }

Tensor maxOther(const Tensor& self, const Tensor& other) { return boxcar::maximum(self, other); }
Tensor minOther(const Tensor& self, const Tensor& other) { return boxcar::minimum(self, other); }

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) {
  m.impl("softmax.int", BOXCAR_FN(softmax));
  m.impl("log_softmax.int", BOXCAR_FN(logSoftmax));
  m.impl("square", BOXCAR_FN(square));
  m.impl("square_", BOXCAR_FN(squareInPlace));
  m.impl("square.out", BOXCAR_FN(squareOut));
  m.impl("max.other", BOXCAR_FN(maxOther));
  m.impl("min.other", BOXCAR_FN(minOther));
}

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("_safe_softmax", BOXCAR_FN(safeSoftmax));
  m.impl("_prelu_kernel", BOXCAR_FN(preluKernel));
  m.impl("_prelu_kernel_backward", BOXCAR_FN(preluKernelBackward));
}

}  // namespace boxcar::composite
