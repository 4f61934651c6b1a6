#include <boxcar/backends/cpu/conversions.h>
#include <boxcar/backends/cpu/draws.h>
#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/strided_loop.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/random.h>

#include <algorithm>
#include <mutex>

namespace boxcar::cpu {
namespace {

void ones(const Tensor& self, double p, const OptionalGenerator& generator) {
  CpuGeneratorImpl& source = generatorOf(generator);
  const std::lock_guard lock(source.mutex());
  fillInOrder<bool>(self, [&] { return drawUniform<double>(source) < p; });
}

// Compares probabilities of type P with random numbers of type P.
template <class P>
void fillByProbabilities(const Tensor& self, const Tensor& p, CpuGeneratorImpl& source) {
  constexpr int64_t kBlock = 256;
  const Loop read = conversionLoop(scalarTypeOf<P>, p.scalar_type());
  const Loop write = conversionLoop(self.scalar_type(), ScalarType::Bool);
  StridedLoop nest(self.sizes());
  nest.add(self.data_ptr(), self.sizes(), self.strides(), self.itemsize());
  nest.add(p.data_ptr(), p.sizes(), p.strides(), p.itemsize());
  nest.runInOrder(self.numel(), [&](char* const* data, const int64_t* steps, int64_t n0, int64_t n1) {
    P probabilities[kBlock];
    bool drawn[kBlock];
    for (int64_t j = 0; j < n1; ++j) {
      char* to = data[0] + j * steps[kMaxOperands];
      const char* from = data[1] + j * steps[kMaxOperands + 1];
      for (int64_t i = 0; i < n0; i += kBlock, to += kBlock * steps[0], from += kBlock * steps[1]) {
        const int64_t n = std::min(kBlock, n0 - i);
        convertRow(read, probabilities, sizeof(P), from, steps[1], n);
        for (int64_t k = 0; k < n; ++k) drawn[k] = drawUniform<P>(source) < probabilities[k];
        convertRow(write, to, steps[0], drawn, sizeof(bool), n);
      }
    }
  });
}

void checkProbabilities(const Tensor& p) {
  const Tensor flat = toContiguous(convertTo(p, ScalarType::Double));
  const double* values = flat.data_ptr<double>();
  for (int64_t i = 0; i < flat.numel(); ++i) meta::checkProbability("bernoulli_", values[i]);
}

// float64 probabilities are compared with float64 numbers, others with float32 numbers.
void onesOfEach(const Tensor& self, const Tensor& p, const Tensor& expanded, const OptionalGenerator& generator) {
  CpuGeneratorImpl& source = generatorOf(generator);
  const std::lock_guard lock(source.mutex());
  visitScalarType(kFloatingTypes, p.scalar_type(), "bernoulli_", [&]<class P>(std::type_identity<P>) {
    checkProbabilities(p);
    fillByProbabilities<Compute<P>>(self, expanded, source);
  });
}

}  // namespace
}  // namespace boxcar::cpu

namespace boxcar::native {

BOXCAR_REGISTER_STUB(CPU, fillOnes, cpu::ones)
BOXCAR_REGISTER_STUB(CPU, fillOnesOfEach, cpu::onesOfEach)

}  // namespace boxcar::native
