#include <boxcar/backends/meta/defined.h>
#include <boxcar/backends/meta/dims.h>
#include <boxcar/backends/meta/random.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>

#include <cmath>
#include <optional>
#include <tuple>

namespace boxcar::composite {
namespace {

bool dropsNothing(const Tensor& input, double p, bool train) {
  meta::checkDefined(input);
  BOXCAR_CHECK(p >= 0 && p <= 1, "dropout probability has to be between 0 and 1, but got {}", p);
  return p == 0 || !train || input.numel() == 0;
}

// Returns 1 for elements of [input] that are kept, and 0 for others. There is one for each element, or for each
// channel; then the sizes are those of the first two dimensions of [input] followed by ones.
Tensor keptOf(const Tensor& input, double p, bool of_channels) {
  Tensor kept;
  if (of_channels) {
    BOXCAR_CHECK(input.dim() >= 2, "Feature dropout requires at least 2 dimensions in the input, but it has {}",
                 input.dim());
    DimVector sizes(input.sizes().size(), 1);
    sizes[0] = input.sizes()[0];
    sizes[1] = input.sizes()[1];
    kept = boxcar::empty(sizes, input.scalar_type(), std::nullopt, input.device());
  } else {
    kept = boxcar::empty_like(input);
  }
  return boxcar::bernoulli_(kept, 1 - p);
}

Tensor zeroFor(const Tensor& input) { return boxcar::zeros({}, input.scalar_type(), std::nullopt, input.device()); }

// Returns the factors for the elements of [input].
Tensor noiseFor(const Tensor& input, double p, bool of_channels) {
  if (p == 1) return zeroFor(input);
  Tensor kept = keptOf(input, p, of_channels);
  return boxcar::div_(kept, 1 - p);
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

// Returns the factors for the elements of [input], and what is added then. Dropped elements become the value that selu
// approaches for low ones; then all are scaled and moved to mean 0 and variance 1.
std::tuple<Tensor, Tensor> alphaNoiseFor(const Tensor& input, double p, bool of_channels) {
  constexpr double kAlpha = 1.7580993408473766;
  const double scale = 1 / std::sqrt((kAlpha * kAlpha * p + 1) * (1 - p));
  const Tensor kept = keptOf(input, p, of_channels);
  const Tensor added = boxcar::add(boxcar::mul(boxcar::sub(kept, 1), kAlpha * scale), kAlpha * scale * p);
  return {boxcar::mul(kept, scale), added};
}

template <bool of_channels>
Tensor alphaDropout(const Tensor& input, double p, bool train) {
  if (dropsNothing(input, p, train)) return input;
  if (p == 1) return boxcar::mul(input, zeroFor(input));
  const auto [factor, added] = alphaNoiseFor(input, p, of_channels);
  return boxcar::add(boxcar::mul(input, factor), added);
}

template <bool of_channels>
Tensor& alphaDropoutInPlace(Tensor& self, double p, bool train) {
  if (dropsNothing(self, p, train)) return self;
  if (p == 1) return boxcar::mul_(self, zeroFor(self));
  const auto [factor, added] = alphaNoiseFor(self, p, of_channels);
  return boxcar::add_(boxcar::mul_(self, factor), added);
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
  m.impl("alpha_dropout", BOXCAR_FN(alphaDropout<false>));
  m.impl("alpha_dropout_", BOXCAR_FN(alphaDropoutInPlace<false>));
  m.impl("feature_alpha_dropout", BOXCAR_FN(alphaDropout<true>));
  m.impl("feature_alpha_dropout_", BOXCAR_FN(alphaDropoutInPlace<true>));
}

}  // namespace boxcar::composite
