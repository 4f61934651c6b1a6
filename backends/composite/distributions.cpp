#include <boxcar/backends/meta/broadcast.h>
#include <boxcar/backends/meta/random.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/storage_without_memory.h>
#include <boxcar/ops.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <utility>

// Random numbers of further distributions, made of uniform and normal ones.

namespace boxcar::composite {
namespace {

using OptionalGenerator = std::optional<Generator>;

// Returns uniform numbers from 0 to below 1 for [self], in double.
Tensor uniformNumbers(const Tensor& self, const OptionalGenerator& generator) {
  Tensor numbers = boxcar::empty(self.sizes(), ScalarType::Double, std::nullopt, self.device());
  return boxcar::uniform_(numbers, 0, 1, generator);
}
// Their logarithms are finite.
Tensor positiveUniform(const Tensor& self, const OptionalGenerator& generator) {
  return boxcar::rsub(uniformNumbers(self, generator), 1);
}

Tensor& cauchy(Tensor& self, double median, double sigma, OptionalGenerator generator) {
  BOXCAR_CHECK(sigma > 0, "cauchy_ expects sigma > 0.0, but found sigma={}", sigma);
  meta::checkFloating("cauchy_", self.scalar_type());
  const Tensor angle = boxcar::mul(boxcar::sub(uniformNumbers(self, generator), 0.5), std::numbers::pi);
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

// == Rejection: numbers are drawn for all elements until each has an accepted one ==

Tensor uniformFor(const Tensor& self, const OptionalGenerator& generator) {
  Tensor numbers = boxcar::empty(self.sizes(), ScalarType::Double, std::nullopt, self.device());
  return boxcar::uniform_(numbers, 0, 1, generator);
}

// Calls draw(), which returns candidates and which of them are accepted, until all elements that were not [done] have
// one, and returns them; others keep the value in [result].
template <class Draw>
Tensor drawUntilAccepted(Tensor result, Tensor done, const Draw& draw) {
  while (!boxcar::item(boxcar::all(done)).toBool()) {
    const auto [candidates, accepted] = draw();
    const Tensor taken = boxcar::logical_and(accepted, boxcar::logical_not(done));
    result = boxcar::where(taken, candidates, result);
    done = boxcar::logical_or(done, accepted);
  }
  return result;
}

// Returns how many steps, drawn by step(), add up to at most [limit]; 0 where [done].
template <class Step>
Tensor countSteps(const Tensor& limit, Tensor done, const Step& step) {
  Tensor sum = boxcar::zeros_like(limit);
  Tensor count = boxcar::zeros_like(limit);
  while (!boxcar::item(boxcar::all(done)).toBool()) {
    sum = boxcar::add(sum, step());
    done = boxcar::logical_or(done, boxcar::logical_not(boxcar::le(sum, limit)));
    count = boxcar::add(count, boxcar::logical_not(done));
  }
  return count;
}

Tensor logFactorial(const Tensor& count) { return boxcar::lgamma(boxcar::add(count, 1)); }

// The hat of Hörmann's transformed rejection with squeeze: "The transformed rejection method for generating Poisson
// random variables" (1993), and its relative for the binomial distribution.
struct Hat {
  Tensor a;
  Tensor b;
  Tensor centre;
  Tensor scale;  // of the uniform number that is compared with the probability
  Tensor quick;  // the uniform numbers up to which candidates near the centre are accepted at once
};

// Draws counts where not [done]. [logMass] returns the logarithm of the probability of each count that is possible.
template <class LogMass>
Tensor drawBelowHat(const Hat& hat, const Tensor& done, const OptionalGenerator& generator, const LogMass& logMass) {
  return drawUntilAccepted(boxcar::zeros_like(hat.b), done, [&] {
    const Tensor u = boxcar::sub(uniformFor(hat.b, generator), 0.5);
    const Tensor v = positiveUniform(hat.b, generator);
    const Tensor to_end = boxcar::rsub(boxcar::abs(u), 0.5);
    const Tensor slope = boxcar::add(boxcar::div(boxcar::mul(hat.a, 2), to_end), hat.b);
    Tensor count = boxcar::floor(boxcar::add(boxcar::mul(slope, u), hat.centre));
    const Tensor height = boxcar::add(boxcar::div(hat.a, boxcar::square(to_end)), hat.b);
    const Tensor below =
        boxcar::le(boxcar::log(boxcar::div(boxcar::mul(v, hat.scale), height)), logMass(boxcar::clamp_min(count, 0)));
    const Tensor at_once = boxcar::logical_and(boxcar::ge(to_end, 0.07), boxcar::le(v, hat.quick));
    Tensor accepted = boxcar::logical_or(at_once, boxcar::logical_and(below, boxcar::ge(count, 0)));
    return std::pair(std::move(count), std::move(accepted));
  });
}

// Throws Error with [message] unless all elements of [valid] are true.
void checkAll(const Tensor& valid, const char* message) {
  BOXCAR_CHECK(lacksElements(valid) || boxcar::item(boxcar::all(valid)).toBool(), "{}", message);
}

Tensor wideOf(const Tensor& self) { return boxcar::to(self, ScalarType::Double); }

// Small means count exponential steps; others use Hörmann's PTRS.
Tensor poisson(const Tensor& self, OptionalGenerator generator) {
  meta::checkFloating("poisson", self.scalar_type());
  checkAll(boxcar::ge(self, 0), "poisson: expected means that are not negative");
  if (self.is_meta() || self.numel() == 0) return boxcar::empty_like(self);
  const Tensor mean = wideOf(self);
  const Tensor is_large = boxcar::ge(mean, 10);
  const Tensor few =
      countSteps(mean, is_large, [&] { return boxcar::neg(boxcar::log(positiveUniform(mean, generator))); });
  const Tensor large = boxcar::where(is_large, mean, 10.0);
  const Tensor root = boxcar::sqrt(large);
  const Tensor b = boxcar::add(boxcar::mul(root, 2.53), 0.931);
  const Tensor log_mean = boxcar::log(large);
  const Hat hat{.a = boxcar::sub(boxcar::mul(b, 0.02483), 0.059),
                .b = b,
                .centre = boxcar::add(large, 0.43),
                .scale = boxcar::add(boxcar::mul(boxcar::reciprocal(boxcar::sub(b, 3.4)), 1.1328), 1.1239),
                .quick = boxcar::rsub(boxcar::mul(boxcar::reciprocal(boxcar::sub(b, 2)), 3.6224), 0.9277)};
  const Tensor is_infinite = boxcar::isinf(mean);
  const Tensor done = boxcar::logical_or(boxcar::logical_not(is_large), is_infinite);
  const Tensor many = drawBelowHat(hat, done, generator, [&](const Tensor& count) {
    return boxcar::sub(boxcar::sub(boxcar::mul(count, log_mean), large), logFactorial(count));
  });
  const Tensor counts = boxcar::where(is_large, boxcar::where(is_infinite, mean, many), few);
  Tensor result = boxcar::empty_like(self);
  return boxcar::copy_(result, counts);
}

// Hörmann's BTRS: draws the number of successes in [n] trials of probability [q] up to a half, where not [done]. At
// least 10 successes must be expected.
Tensor manySuccesses(const Tensor& n, const Tensor& q, const Tensor& done, const OptionalGenerator& generator) {
  const Tensor expected = boxcar::mul(n, q);
  const Tensor root = boxcar::sqrt(boxcar::mul(expected, boxcar::rsub(q, 1)));
  const Tensor b = boxcar::add(boxcar::mul(root, 2.53), 1.15);
  const Hat hat{.a = boxcar::add(boxcar::sub(boxcar::mul(b, 0.0248), 0.0873), boxcar::mul(q, 0.01)),
                .b = b,
                .centre = boxcar::add(expected, 0.5),
                .scale = boxcar::mul(boxcar::add(boxcar::mul(boxcar::reciprocal(b), 5.1), 2.83), root),
                .quick = boxcar::rsub(boxcar::mul(boxcar::reciprocal(b), 4.2), 0.92)};
  const Tensor mode = boxcar::floor(boxcar::mul(boxcar::add(n, 1), q));
  const Tensor log_odds = boxcar::sub(boxcar::log(q), boxcar::log1p(boxcar::neg(q)));
  const auto logOrders = [&](const Tensor& k) { return boxcar::add(logFactorial(k), logFactorial(boxcar::sub(n, k))); };
  const Tensor at_mode = logOrders(mode);
  return drawBelowHat(hat, done, generator, [&](const Tensor& count) {
    const Tensor k = boxcar::minimum(count, n);
    const Tensor relative =
        boxcar::add(boxcar::sub(at_mode, logOrders(k)), boxcar::mul(boxcar::sub(k, mode), log_odds));
    return boxcar::where(boxcar::le(count, n), relative, -1e300);  // more successes than trials are never accepted
  });
}

// Few expected successes count the trials from one success to the next; others use Hörmann's BTRS. Where successes are
// more likely than failures, failures are drawn.
Tensor binomial(const Tensor& count, const Tensor& prob, OptionalGenerator generator) {
  meta::checkFloating("binomial", count.scalar_type());
  BOXCAR_CHECK(prob.scalar_type() == count.scalar_type(), "binomial: expected prob of dtype {} like count, but got {}",
               dtypeName(count.scalar_type()), dtypeName(prob.scalar_type()));
  const DimVector sizes = meta::broadcast(count.sizes(), prob.sizes());
  Tensor result = boxcar::empty(sizes, count.scalar_type(), std::nullopt, count.device());
  if (result.is_meta() || result.numel() == 0) return result;
  const Tensor n = boxcar::expand(boxcar::floor(boxcar::clamp_min(wideOf(count), 0)), sizes);
  const Tensor p = boxcar::expand(boxcar::clamp(wideOf(prob), Scalar(0), Scalar(1)), sizes);
  const Tensor fails = boxcar::gt(p, 0.5);
  const Tensor q = boxcar::where(fails, boxcar::rsub(p, 1), p);
  const Tensor is_infinite = boxcar::isinf(n);
  const Tensor is_large = boxcar::logical_and(boxcar::ge(boxcar::mul(n, q), 10), boxcar::logical_not(is_infinite));
  // Of no success at all, the first comes late.
  const Tensor log_failure = boxcar::clamp_max(boxcar::log1p(boxcar::neg(q)), -1e-300);
  const Tensor few = countSteps(n, boxcar::logical_or(is_large, is_infinite), [&] {
    return boxcar::ceil(boxcar::div(boxcar::log(positiveUniform(n, generator)), log_failure));
  });
  const Tensor many = manySuccesses(boxcar::where(is_large, n, 40.0), boxcar::where(is_large, q, 0.5),
                                    boxcar::logical_not(is_large), generator);
  Tensor drawn = boxcar::where(is_large, many, few);
  drawn = boxcar::where(boxcar::logical_and(is_infinite, boxcar::gt(q, 0)), n, drawn);
  // A count or probability that is NaN makes the sum NaN.
  return boxcar::copy_(result, boxcar::add(boxcar::where(fails, boxcar::sub(n, drawn), drawn),
                                           boxcar::mul(boxcar::add(p, boxcar::where(is_infinite, 0.0, n)), 0)));
}

// Marsaglia and Tsang, "A simple method for generating gamma variables" (2000); shapes below 1 are drawn for one more.
Tensor gammaNumbers(const Tensor& shape, const OptionalGenerator& generator) {
  const Tensor is_small = boxcar::lt(shape, 1);
  const Tensor d = boxcar::sub(boxcar::where(is_small, boxcar::add(shape, 1), shape), 1.0 / 3);
  const Tensor c = boxcar::reciprocal(boxcar::sqrt(boxcar::mul(d, 9)));
  const Tensor valid = boxcar::logical_and(boxcar::gt(shape, 0), boxcar::logical_not(boxcar::isinf(shape)));
  const Tensor drawn = drawUntilAccepted(shape, boxcar::logical_not(valid), [&] {
    Tensor x = boxcar::empty(shape.sizes(), ScalarType::Double, std::nullopt, shape.device());
    boxcar::normal_(x, 0, 1, generator);
    const Tensor v = boxcar::pow(boxcar::add(boxcar::mul(x, c), 1), 3);
    const Tensor dv = boxcar::mul(d, v);
    const Tensor is_positive = boxcar::gt(v, 0);
    const Tensor bound = boxcar::add(boxcar::sub(boxcar::add(boxcar::mul(boxcar::square(x), 0.5), d), dv),
                                     boxcar::mul(d, boxcar::log(boxcar::clamp_min(v, 1e-300))));
    const Tensor below = boxcar::lt(boxcar::log(positiveUniform(shape, generator)), bound);
    Tensor accepted = boxcar::logical_and(is_positive, below);
    return std::pair(dv, std::move(accepted));
  });
  const Tensor is_raised = boxcar::logical_and(is_small, valid);
  const Tensor power = boxcar::reciprocal(boxcar::where(is_raised, shape, 1.0));
  const Tensor factor = boxcar::pow(positiveUniform(shape, generator), power);
  return boxcar::where(is_raised, boxcar::mul(drawn, factor), drawn);
}

// Returns the least normal number of [dtype], which stands for smaller ones.
double leastNormal(ScalarType dtype) {
  switch (dtype) {
    case ScalarType::Half: return 0x1p-14;
    case ScalarType::Double: return std::numeric_limits<double>::min();
    default: return std::numeric_limits<float>::min();
  }
}

Tensor standardGamma(const Tensor& self, OptionalGenerator generator) {
  meta::checkFloating("_standard_gamma", self.scalar_type());
  Tensor result = boxcar::empty_like(self);
  if (self.is_meta() || self.numel() == 0) return result;
  return boxcar::copy_(result,
                       boxcar::clamp_min(gammaNumbers(wideOf(self), generator), leastNormal(self.scalar_type())));
}

Tensor sampleDirichlet(const Tensor& self, OptionalGenerator generator) {
  meta::checkFloating("_sample_dirichlet", self.scalar_type());
  Tensor result = boxcar::empty_like(self);
  if (self.is_meta() || self.numel() == 0) return result;
  const Tensor parts = boxcar::clamp_min(gammaNumbers(wideOf(self), generator), std::numeric_limits<double>::min());
  const int64_t last[] = {-1};
  const Tensor shares = boxcar::div(parts, boxcar::sum(parts, last, /*keepdim=*/true));
  return boxcar::copy_(result, boxcar::clamp_min(shares, leastNormal(self.scalar_type())));
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("poisson", BOXCAR_FN(poisson));
  m.impl("binomial", BOXCAR_FN(binomial));
  m.impl("_standard_gamma", BOXCAR_FN(standardGamma));
  m.impl("_sample_dirichlet", BOXCAR_FN(sampleDirichlet));
  m.impl("cauchy_", BOXCAR_FN(cauchy));
  m.impl("log_normal_", BOXCAR_FN(logNormal));
  m.impl("geometric_", BOXCAR_FN(geometric));
}

}  // namespace boxcar::composite
