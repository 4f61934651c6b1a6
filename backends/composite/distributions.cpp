#include <boxcar/backends/meta/random.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>

#include <cmath>
#include <numbers>
#include <optional>

// Random numbers of further distributions, made of uniform and normal ones.

namespace boxcar::composite {
namespace {

using OptionalGenerator = std::optional<Generator>;

// Returns uniform numbers above 0 and below or equal to 1, for [self], in double, so that the logarithm is finite.
Tensor positiveUniform(const Tensor& self, const OptionalGenerator& generator) {
  Tensor numbers = boxcar::empty(self.sizes(), ScalarType::Double, std::nullopt, self.device());
  boxcar::uniform_(numbers, 0, 1, generator);
  return boxcar::rsub(numbers, 1);
}

Tensor& cauchy(Tensor& self, double median, double sigma, OptionalGenerator generator) {
  BOXCAR_CHECK(sigma > 0, "cauchy_ expects sigma > 0.0, but found sigma={}", sigma);
  meta::checkFloating("cauchy_", self.scalar_type());
  const Tensor angle = boxcar::mul(boxcar::sub(positiveUniform(self, generator), 0.5), std::numbers::pi);
  return boxcar::copy_(self, boxcar::add(boxcar::mul(boxcar::tan(angle), sigma), median));
}

Tensor& logNormal(Tensor& self, double mean, double std, OptionalGenerator generator) {
  BOXCAR_CHECK(std > 0, "log_normal_ expects std > 0.0, but found std={}", std);
  meta::checkFloating("log_normal_", self.scalar_type());
  Tensor logarithm = boxcar::empty(self.sizes(), ScalarType::Double, std::nullopt, self.device());
  boxcar::normal_(logarithm, mean, std, generator);
  return boxcar::copy_(self, boxcar::exp(logarithm));
}

// The logarithm of a uniform number counts trials by those of the failures.
Tensor& geometric(Tensor& self, double p, OptionalGenerator generator) {
  BOXCAR_CHECK(p > 0 && p < 1, "geometric_ expects p to be in (0, 1), but got p={}", p);
  BOXCAR_CHECK(!self.is_complex() && self.scalar_type() != ScalarType::Bool,
               "geometric_: not defined for elements of {}", dtypeName(self.scalar_type()));
  const Tensor trials = boxcar::ceil(boxcar::div(boxcar::log(positiveUniform(self, generator)), std::log1p(-p)));
  return boxcar::copy_(self, boxcar::clamp(trials, Scalar(1)));
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("cauchy_", BOXCAR_FN(cauchy));
  m.impl("log_normal_", BOXCAR_FN(logNormal));
  m.impl("geometric_", BOXCAR_FN(geometric));
}

}  // namespace boxcar::composite
