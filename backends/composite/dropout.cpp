#include <boxcar/backends/meta/defined.h>
#include <boxcar/backends/meta/dims.h>
#include <boxcar/backends/meta/random.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>

#include <optional>
#include <tuple>

namespace boxcar::composite {
namespace {

bool dropsNothing(const Tensor& input, double p, bool train) {
  meta::checkDefined(input);
  BOXCAR_CHECK(p >= 0 && p <= 1, "dropout probability has to be between 0 and 1, but got {}", p);
  return p == 0 || !train || input.numel() == 0;
}

// Returns the factors for the elements of [input]. They have the shape of [input], or for whole channels that of its
// first two dimensions followed by ones.
Tensor noiseFor(const Tensor& input, double p, bool of_channels) {
  if (p == 1) return boxcar::zeros({}, input.scalar_type(), std::nullopt, input.device());
  Tensor noise;
  if (of_channels) {
    BOXCAR_CHECK(input.dim() >= 2, "Feature dropout requires at least 2 dimensions in the input, but it has {}",
                 input.dim());
    DimVector sizes(input.sizes().size(), 1);
    sizes[0] = input.sizes()[0];
    sizes[1] = input.sizes()[1];
    noise = boxcar::empty(sizes, input.scalar_type(), std::nullopt, input.device());
  } else {
    noise = boxcar::empty_like(input);
  }
  boxcar::bernoulli_(noise, 1 - p);
  return boxcar::div_(noise, 1 - p);
}

template <bool of_channels>
Tensor dropout(const Tensor& input, double p, bool train) {
  if (dropsNothing(input, p, train)) return input;
  return boxcar::mul(input, noiseFor(input, p, of_channels));
}

template <bool of_channels>
Tensor& dropoutInPlace(Tensor& self, double p, bool train) {
  if (dropsNothing(self, p, train)) return self;
  return boxcar::mul_(self, noiseFor(self, p, of_channels));
}

std::tuple<Tensor, Tensor> nativeDropout(const Tensor& input, double p, std::optional<bool> train) {
  meta::checkProbability("native_dropout", p);
  if (!train.value_or(true)) {
    return {boxcar::clone(input), boxcar::ones(input.sizes(), ScalarType::Bool, std::nullopt, input.device())};
  }
  Tensor mask = boxcar::empty(input.sizes(), ScalarType::Bool, std::nullopt, input.device());
  boxcar::bernoulli_(mask, 1 - p);
  Tensor result = boxcar::mul(input, mask);
  return {boxcar::mul_(result, p == 1 ? 0.0 : 1 / (1 - p)), mask};
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) { m.impl("native_dropout", BOXCAR_FN(nativeDropout)); }

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) {
  m.impl("dropout", BOXCAR_FN(dropout<false>));
  m.impl("dropout_", BOXCAR_FN(dropoutInPlace<false>));
  m.impl("feature_dropout", BOXCAR_FN(dropout<true>));
  m.impl("feature_dropout_", BOXCAR_FN(dropoutInPlace<true>));
}

}  // namespace boxcar::composite
