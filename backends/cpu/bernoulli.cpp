#include <boxcar/backends/cpu/draws.h>
#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/registration.h>
#include <boxcar/backends/dense/copy.h>
#include <boxcar/backends/dense/memory_checks.h>
#include <boxcar/backends/dense/pointwise.h>
#include <boxcar/backends/shape/broadcast.h>
#include <boxcar/backends/shape/random.h>

#include <algorithm>
#include <mutex>
#include <optional>

namespace boxcar::cpu {
namespace {

Tensor& bernoulliNumber(Tensor& self, double p, std::optional<Generator> generator) {
  checkCpuOrMeta(self);
  checkNoInternalOverlap(self);
  shape::checkProbability("bernoulli_", p);
  if (self.is_meta()) return self;
  CpuGeneratorImpl& source = generatorOf(generator);
  const std::lock_guard lock(source.mutex());
  visitScalarType(kAllTypes, self.scalar_type(), "bernoulli_", [&]<class T>(std::type_identity<T>) {
    fillInOrder<T>(self, [&] { return convertElement<T>(drawUniform<double>(source) < p); });
  });
  self.storage()->bumpVersion();
  return self;
}

// Probabilities of float64 are compared with numbers of float64, others with float32.
template <class T, class P>
void fillByProbabilities(const Tensor& self, const Tensor& p, CpuGeneratorImpl& source) {
  StridedLoop nest(self.sizes());
  nest.add(self.data_ptr(), self.sizes(), self.strides(), self.itemsize());
  nest.add(p.data_ptr(), p.sizes(), p.strides(), p.itemsize());
  nest.run([&](char* const* data, const int64_t* steps, int64_t n0, int64_t n1) {
    elementwise<T, P>(data, steps, n0, n1, [&](P probability) {
      return convertElement<T>(drawUniform<Compute<P>>(source) < static_cast<Compute<P>>(probability));
    });
  });
}

template <class P>
void checkProbabilities(const Tensor& p) {
  const Tensor flat = toContiguous(p);
  const P* values = flat.data_ptr<P>();
  for (int64_t i = 0; i < flat.numel(); ++i) shape::checkProbability("bernoulli_", static_cast<double>(values[i]));
}

Tensor& bernoulliTensor(Tensor& self, const Tensor& p, std::optional<Generator> generator) {
  checkCpuOrMeta(self);
  commonDevice({&self, &p});
  checkNoInternalOverlap(self);
  BOXCAR_CHECK(isFloatingType(p.scalar_type()), "expected probabilities tensor to have floating type, got {}",
               dtypeName(p.scalar_type()));
  Tensor probabilities = shape::expandTo(p, self.sizes());
  if (self.is_meta()) return self;
  BOXCAR_CHECK(!p.is_meta(), "bernoulli_(): the probabilities are on Meta and have no data");
  if (p.storage() == self.storage()) probabilities = convertTo(probabilities, p.scalar_type());
  CpuGeneratorImpl& source = generatorOf(generator);
  const std::lock_guard lock(source.mutex());
  visitScalarType(kFloatingTypes, p.scalar_type(), "bernoulli_", [&]<class P>(std::type_identity<P>) {
    checkProbabilities<P>(p);
    visitScalarType(kAllTypes, self.scalar_type(), "bernoulli_",
                    [&]<class T>(std::type_identity<T>) { fillByProbabilities<T, P>(self, probabilities, source); });
  });
  self.storage()->bumpVersion();
  return self;
}

}  // namespace

BOXCAR_CPU_AND_META(aten, m) {
  m.impl("bernoulli_.float", BOXCAR_FN(bernoulliNumber));
  m.impl("bernoulli_.Tensor", BOXCAR_FN(bernoulliTensor));
}

}  // namespace boxcar::cpu
