#include <boxcar/backends/cpu/draws.h>
#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/dense/copy.h>
#include <boxcar/backends/dense/random.h>

#include <mutex>

namespace boxcar::cpu {
namespace {

void ones(const Tensor& self, double p, const OptionalGenerator& generator) {
  CpuGeneratorImpl& source = generatorOf(generator);
  const std::lock_guard lock(source.mutex());
  visitScalarType(kAllTypes, self.scalar_type(), "bernoulli_", [&]<class T>(std::type_identity<T>) {
    fillInOrder<T>(self, [&] { return convertElement<T>(drawUniform<double>(source) < p); });
  });
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

void onesOfEach(const Tensor& self, const Tensor& p, const Tensor& expanded, const OptionalGenerator& generator) {
  CpuGeneratorImpl& source = generatorOf(generator);
  const std::lock_guard lock(source.mutex());
  visitScalarType(kFloatingTypes, p.scalar_type(), "bernoulli_", [&]<class P>(std::type_identity<P>) {
    checkProbabilities<P>(p);
    visitScalarType(kAllTypes, self.scalar_type(), "bernoulli_",
                    [&]<class T>(std::type_identity<T>) { fillByProbabilities<T, P>(self, expanded, source); });
  });
}

}  // namespace
}  // namespace boxcar::cpu

namespace boxcar::dense {

constinit DeviceFunction<FillOnes> fillOnes("bernoulli_", cpu::ones);
constinit DeviceFunction<FillOnesOfEach> fillOnesOfEach("bernoulli_", cpu::onesOfEach);

}  // namespace boxcar::dense
