#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/storage_without_memory.h>
#include <boxcar/ops.h>
#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <string_view>

// Covariances and correlations of variables.

namespace boxcar::composite {
namespace {

using OptionalTensor = std::optional<Tensor>;

void checkWeights(const Tensor& weights, std::string_view name, bool integral, int64_t observations) {
  BOXCAR_CHECK(weights.dim() <= 1, "cov(): expected {} to have one or fewer dimensions but got {} with {} dimensions",
               name, name, weights.dim());
  BOXCAR_CHECK(
      integral ? isIntegralType(weights.scalar_type(), /*includeBool=*/false) : isFloatingType(weights.scalar_type()),
      "cov(): expected {} to have {} dtype but got {} with {} dtype", name, integral ? "integral" : "floating point",
      name, dtypeName(weights.scalar_type()));
  BOXCAR_CHECK(weights.numel() == observations,
               "cov(): expected {} to have the same numel as there are observations in the input but got {} != {}",
               name, weights.numel(), observations);
  if (lacksElements(weights) || weights.numel() == 0) return;
  BOXCAR_CHECK(boxcar::item(boxcar::min(weights)).toDouble() >= 0, "cov(): {} cannot be negative", name);
}

Tensor product(const OptionalTensor& fweights, const OptionalTensor& aweights) {
  return fweights.has_value() && aweights.has_value() ? boxcar::mul(*fweights, *aweights)
         : fweights.has_value()                       ? *fweights
                                                      : *aweights;
}

Tensor cov(const Tensor& self, int64_t correction, const OptionalTensor& fweights, const OptionalTensor& aweights) {
  BOXCAR_CHECK(self.dim() <= 2,
               "cov(): expected input to have two or fewer dimensions but got an input with {} dimensions", self.dim());
  BOXCAR_CHECK(self.scalar_type() != ScalarType::Bool, "cov(): bool dtype is not supported for input");
  const Tensor rows = self.dim() < 2 ? boxcar::reshape(self, {1, -1}) : self;
  const int64_t observations = rows.size(1);
  if (fweights.has_value()) checkWeights(*fweights, "fweights", true, observations);
  if (aweights.has_value()) checkWeights(*aweights, "aweights", false, observations);
  const bool weighted = fweights.has_value() || aweights.has_value();
  const Tensor weights = weighted ? product(fweights, aweights) : Tensor();
  const Tensor total = weighted ? boxcar::sum(weights)
                                : boxcar::scalar_tensor(observations, ScalarType::Long, std::nullopt, self.device());
  BOXCAR_CHECK(!weighted || lacksElements(self) || observations == 0 || boxcar::is_nonzero(total),
               "cov(): weights sum to zero, can't be normalized");
  const Tensor mean = weighted ? boxcar::div(boxcar::sum(boxcar::mul(rows, weights), {{1}}), total)
                               : boxcar::div(boxcar::sum(rows, {{1}}), total);
  // Observations are divided by their number less the correction, which weights change in proportion.
  Tensor norm;
  if (!weighted || !aweights.has_value() || correction == 0) {
    norm = boxcar::sub(total, correction);
  } else {
    norm =
        boxcar::sub(total, boxcar::div(boxcar::mul(boxcar::sum(boxcar::mul(weights, *aweights)), correction), total));
  }
  norm = boxcar::clamp(norm, Scalar(0));
  const Tensor centred = boxcar::sub(rows, boxcar::unsqueeze(mean, 1));
  Tensor other = weighted ? boxcar::mul(centred, weights) : centred;
  if (other.is_complex()) other = boxcar::conj_physical(other);
  return boxcar::squeeze(
      boxcar::div(boxcar::matmul(centred, boxcar::to(boxcar::t(other), centred.scalar_type())), norm));
}

Tensor corrcoef(const Tensor& self) {
  BOXCAR_CHECK(self.dim() <= 2,
               "corrcoef(): expected input to have two or fewer dimensions but got an input with {} dimensions",
               self.dim());
  const Tensor covariance = boxcar::cov(self);
  if (covariance.dim() == 0) return boxcar::div(covariance, covariance);
  const Tensor variances = boxcar::diagonal(covariance);
  const Tensor deviations = boxcar::sqrt(variances.is_complex() ? boxcar::real(variances) : variances);
  const Tensor scaled =
      boxcar::div(boxcar::div(covariance, boxcar::unsqueeze(deviations, 1)), boxcar::unsqueeze(deviations, 0));
  if (!scaled.is_complex()) return boxcar::clamp(scaled, Scalar(-1), Scalar(1));
  return boxcar::complex(boxcar::clamp(boxcar::real(scaled), Scalar(-1), Scalar(1)),
                         boxcar::clamp(boxcar::imag(scaled), Scalar(-1), Scalar(1)));
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) {
  m.impl("cov", BOXCAR_FN(cov));
  m.impl("corrcoef", BOXCAR_FN(corrcoef));
}

}  // namespace boxcar::composite
