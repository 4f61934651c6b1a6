#include <boxcar/backends/meta/broadcast.h>
#include <boxcar/backends/meta/dims.h>
#include <boxcar/backends/meta/output.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/memory_checks.h>
#include <boxcar/backends/native/random.h>
#include <boxcar/backends/native/registration.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/no_elements_error.h>

#include <numbers>

// Operators that fill a tensor with random numbers.

namespace boxcar::native {

constinit DeviceStub<FillUniform> fillUniform("uniform_");
constinit DeviceStub<FillNormal> fillNormal("normal_");
constinit DeviceStub<FillExponential> fillExponential("exponential_");
constinit DeviceStub<FillIntegers> fillIntegers("random_");
constinit DeviceStub<FillOnes> fillOnes("bernoulli_");
constinit DeviceStub<FillOnesOfEach> fillOnesOfEach("bernoulli_");
constinit DeviceStub<Shuffle> shuffle("randperm");
constinit DeviceStub<DrawCategories> drawCategories("multinomial");

namespace {

// Returns a view of complex numbers as real ones. Real and imaginary parts are a last dimension of two, but contiguous
// numbers give one dimension: with one more than theirs, there may be too many.
Tensor realParts(const Tensor& self) {
  if (self.is_contiguous()) {
    return Tensor(makeIntrusive<TensorImpl>(self.storage(), toRealValueType(self.scalar_type()),
                                            dimVector(2 * self.numel()), dimVector(int64_t{1}),
                                            2 * self.storage_offset()));
  }
  DimVector sizes = toDimVector(self.sizes());
  DimVector strides = toDimVector(self.strides());
  // Strides of a tensor without elements may be too large to double.
  for (int64_t& stride : strides) stride = self.numel() == 0 ? 0 : 2 * stride;
  sizes.push_back(2);
  strides.push_back(1);
  return Tensor(makeIntrusive<TensorImpl>(self.storage(), toRealValueType(self.scalar_type()), sizes, strides,
                                          2 * self.storage_offset()));
}

Tensor& uniform(Tensor& self, double from, double to, OptionalGenerator generator) {
  checkDense(self);
  checkNoInternalOverlap(self);
  BOXCAR_CHECK(from <= to, "uniform_ expects to return a [from, to) range, but found from={} > to={}", from, to);
  if (!self.is_complex()) meta::checkFloating("uniform_", self.scalar_type());
  if (self.is_meta()) return self;
  fillUniform(self.device(), self.is_complex() ? realParts(self) : self, from, to, generator);
  return self;
}

// Each part of a complex number has half of its variance.
Tensor& normal(Tensor& self, double mean, double std, OptionalGenerator generator) {
  checkDense(self);
  checkNoInternalOverlap(self);
  BOXCAR_CHECK(std >= 0, "normal expects std >= 0.0, but found std {}", std);
  if (!self.is_complex()) meta::checkFloating("normal_", self.scalar_type());
  if (self.is_meta()) return self;
  if (self.is_complex()) {
    fillNormal(self.device(), realParts(self), mean, std / std::numbers::sqrt2, generator);
  } else {
    fillNormal(self.device(), self, mean, std, generator);
  }
  return self;
}

Tensor& exponential(Tensor& self, double lambd, OptionalGenerator generator) {
  checkDense(self);
  checkNoInternalOverlap(self);
  BOXCAR_CHECK(lambd > 0, "exponential_ expects lambda > 0.0, but found lambda={}", lambd);
  meta::checkFloating("exponential_", self.scalar_type());
  if (self.is_meta()) return self;
  fillExponential(self.device(), self, lambd, generator);
  return self;
}

Tensor& randomFrom(Tensor& self, int64_t from, std::optional<int64_t> to, OptionalGenerator generator) {
  checkDense(self);
  const meta::IntegerRange range = meta::integerRange(self.scalar_type(), from, to);
  checkNoInternalOverlap(self);
  if (self.is_meta()) return self;
  fillIntegers(self.device(), self, range, generator);
  return self;
}
Tensor& randomTo(Tensor& self, int64_t to, OptionalGenerator generator) { return randomFrom(self, 0, to, generator); }

Tensor& random(Tensor& self, OptionalGenerator generator) {
  checkDense(self);
  checkNoInternalOverlap(self);
  visitScalarType(kRealAndBoolTypes, self.scalar_type(), "random_",
                  [](auto) {});  // throws Error, naming the supported types
  if (!self.is_meta()) fillIntegers(self.device(), self, std::nullopt, generator);
  return self;
}

Tensor& bernoulliNumber(Tensor& self, double p, OptionalGenerator generator) {
  checkDense(self);
  checkNoInternalOverlap(self);
  meta::checkProbability("bernoulli_", p);
  if (self.is_meta()) return self;
  fillOnes(self.device(), self, p, generator);
  return self;
}

Tensor& bernoulliTensor(Tensor& self, const Tensor& p, OptionalGenerator generator) {
  checkDense(self);
  const Device device = commonDevice({&self, &p});
  checkNoInternalOverlap(self);
  BOXCAR_CHECK(isFloatingType(p.scalar_type()), "expected probabilities tensor to have floating type, got {}",
               dtypeName(p.scalar_type()));
  const Tensor expanded = meta::expandTo(p, self.sizes());
  if (self.is_meta()) return self;
  if (p.is_meta()) throw NoElementsError("bernoulli_(): the probabilities are on Meta and have no data");
  meta::checkSameDevice(device, self.device());
  if (p.device() != device) {
    const Tensor moved = toDevice(p, device);
    fillOnesOfEach(device, self, moved, meta::expandTo(moved, self.sizes()), generator);
  } else {
    fillOnesOfEach(device, self, p, p.storage() == self.storage() ? convertTo(expanded, p.scalar_type()) : expanded,
                   generator);
  }
  return self;
}

}  // namespace

BOXCAR_NATIVE_KERNELS(aten, m, fillUniform, fillNormal, fillExponential, fillIntegers, fillOnes, fillOnesOfEach) {
  m.impl("uniform_", BOXCAR_FN(uniform));
  m.impl("normal_", BOXCAR_FN(normal));
  m.impl("exponential_", BOXCAR_FN(exponential));
  m.impl("random_.from", BOXCAR_FN(randomFrom));
  m.impl("random_.to", BOXCAR_FN(randomTo));
  m.impl("random_", BOXCAR_FN(random));
  m.impl("bernoulli_.float", BOXCAR_FN(bernoulliNumber));
  m.impl("bernoulli_.Tensor", BOXCAR_FN(bernoulliTensor));
}

}  // namespace boxcar::native
