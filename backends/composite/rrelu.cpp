#include <boxcar/backends/composite/write_out.h>
#include <boxcar/backends/meta/defined.h>
#include <boxcar/backends/meta/output.h>
#include <boxcar/backends/meta/spatial.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

// Rectified linear units with a random slope for each negative element.

namespace boxcar::composite {
namespace {

using OptionalGenerator = std::optional<Generator>;

// In training, writes the slope of each element to [noise], which is 1 for positive ones.
Tensor rreluWithNoise(const Tensor& self, Tensor& noise, const Scalar& lower, const Scalar& upper, bool training,
                      OptionalGenerator generator) {
  const double low = lower.toDouble();
  const double high = upper.toDouble();
  BOXCAR_CHECK(std::ranges::equal(self.sizes(), noise.sizes()),
               "rrelu_with_noise: expected noise of the input's size {}, but got {}", meta::listOf(self.sizes()),
               meta::listOf(noise.sizes()));
  BOXCAR_CHECK(low <= high, "rrelu_with_noise: lower must be at most upper, but they are {} and {}", low, high);
  meta::checkSameDevice(self.device(), noise.device());
  if (!training) return boxcar::leaky_relu(self, (low + high) / 2);
  BOXCAR_CHECK(noise.scalar_type() == self.scalar_type(), "rrelu_with_noise: expected noise of dtype {}, but got {}",
               dtypeName(self.scalar_type()), dtypeName(noise.scalar_type()));
  meta::checkNoOverlap(noise, self);
  const Tensor is_positive = boxcar::gt(self, 0);
  boxcar::uniform_(noise, low, high, generator);
  boxcar::masked_fill_(noise, is_positive, 1);
  return boxcar::mul(self, noise);
}

// Writes the result to [out], and in training the slopes to [noise], once both can take them.
Tensor& writeWithNoise(const Tensor& self, Tensor& noise, const Scalar& lower, const Scalar& upper, bool training,
                       const OptionalGenerator& generator, Tensor& out) {
  meta::checkNoOverlap(noise, out);
  if (!training) return writeSameType(out, rreluWithNoise(self, noise, lower, upper, training, generator));
  Tensor slopes = boxcar::empty_like(noise);
  const Tensor result = rreluWithNoise(self, slopes, lower, upper, training, generator);
  writeAll({{out, result}, {noise, slopes}});
  return out;
}

std::tuple<Tensor, Tensor> rreluWithNoiseFunctional(const Tensor& self, const Tensor& noise, const Scalar& lower,
                                                    const Scalar& upper, bool training, OptionalGenerator generator) {
  Tensor slopes = boxcar::clone(noise);
  Tensor result = boxcar::rrelu_with_noise(self, slopes, lower, upper, training, generator);
  return {std::move(result), std::move(slopes)};
}
Tensor& rreluWithNoiseOut(const Tensor& self, Tensor& noise, const Scalar& lower, const Scalar& upper, bool training,
                          OptionalGenerator generator, Tensor& out) {
  return writeWithNoise(self, noise, lower, upper, training, generator, out);
}
Tensor& rreluWithNoiseInPlace(Tensor& self, Tensor& noise, const Scalar& lower, const Scalar& upper, bool training,
                              OptionalGenerator generator) {
  return writeWithNoise(self, noise, lower, upper, training, generator, self);
}

Tensor rrelu(const Tensor& self, const Scalar& lower, const Scalar& upper, bool training, OptionalGenerator generator) {
  Tensor noise = boxcar::empty_like(self);
  return boxcar::rrelu_with_noise(self, noise, lower, upper, training, generator);
}
Tensor& rreluInPlace(Tensor& self, const Scalar& lower, const Scalar& upper, bool training,
                     OptionalGenerator generator) {
  Tensor noise = boxcar::empty_like(self);
  return boxcar::rrelu_with_noise_(self, noise, lower, upper, training, generator);
}

Tensor rreluWithNoiseBackward(const Tensor& grad_output, const Tensor& self, const Tensor& noise, const Scalar& lower,
                              const Scalar& upper, bool training, bool self_is_result) {
  meta::checkDefined(self);
  meta::checkDefined(noise);
  if (training) return boxcar::mul(grad_output, noise);
  return boxcar::leaky_relu_backward(grad_output, self, (lower.toDouble() + upper.toDouble()) / 2, self_is_result);
}
Tensor& rreluWithNoiseBackwardOut(const Tensor& grad_output, const Tensor& self, const Tensor& noise,
                                  const Scalar& lower, const Scalar& upper, bool training, bool self_is_result,
                                  Tensor& out) {
  return writeSameType(out, rreluWithNoiseBackward(grad_output, self, noise, lower, upper, training, self_is_result));
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) {
  m.impl("rrelu", BOXCAR_FN(rrelu));
  m.impl("rrelu_", BOXCAR_FN(rreluInPlace));
}

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("rrelu_with_noise", BOXCAR_FN(rreluWithNoise));
  m.impl("rrelu_with_noise_functional", BOXCAR_FN(rreluWithNoiseFunctional));
  m.impl("rrelu_with_noise.out", BOXCAR_FN(rreluWithNoiseOut));
  m.impl("rrelu_with_noise_", BOXCAR_FN(rreluWithNoiseInPlace));
  m.impl("rrelu_with_noise_backward", BOXCAR_FN(rreluWithNoiseBackward));
  m.impl("rrelu_with_noise_backward.out", BOXCAR_FN(rreluWithNoiseBackwardOut));
}

}  // namespace boxcar::composite
