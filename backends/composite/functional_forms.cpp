#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ops.h>

#include <cstdint>
#include <optional>

// Functional forms of operators that PyTorch's users call in place only. Programs of torch.export have them, because
// run_decompositions() leaves no writes. The elements of [self] do not count, only its sizes, dtype and device.

namespace boxcar::composite {
namespace {

using DrawnWith = std::optional<Generator>;

Tensor uniformForm(const Tensor& self, double from, double to, DrawnWith generator) {
  Tensor result = boxcar::empty_like(self);
  return boxcar::uniform_(result, from, to, generator);
}
Tensor normalForm(const Tensor& self, double mean, double std, DrawnWith generator) {
  Tensor result = boxcar::empty_like(self);
  return boxcar::normal_(result, mean, std, generator);
}
Tensor logNormalForm(const Tensor& self, double mean, double std, DrawnWith generator) {
  Tensor result = boxcar::empty_like(self);
  return boxcar::log_normal_(result, mean, std, generator);
}
Tensor cauchyForm(const Tensor& self, double median, double sigma, DrawnWith generator) {
  Tensor result = boxcar::empty_like(self);
  return boxcar::cauchy_(result, median, sigma, generator);
}
Tensor exponentialForm(const Tensor& self, double lambd, DrawnWith generator) {
  Tensor result = boxcar::empty_like(self);
  return boxcar::exponential_(result, lambd, generator);
}
Tensor geometricForm(const Tensor& self, double p, DrawnWith generator) {
  Tensor result = boxcar::empty_like(self);
  return boxcar::geometric_(result, p, generator);
}
Tensor bernoulliForm(const Tensor& self, const Tensor& p, DrawnWith generator) {
  Tensor result = boxcar::empty_like(self);
  return boxcar::bernoulli_(result, p, generator);
}
Tensor randomForm(const Tensor& self, DrawnWith generator) {
  Tensor result = boxcar::empty_like(self);
  return boxcar::random_(result, generator);
}
Tensor randomToForm(const Tensor& self, int64_t to, DrawnWith generator) {
  Tensor result = boxcar::empty_like(self);
  return boxcar::random_(result, to, generator);
}
Tensor randomFromForm(const Tensor& self, int64_t from, std::optional<int64_t> to, DrawnWith generator) {
  Tensor result = boxcar::empty_like(self);
  return boxcar::random_(result, from, to, generator);
}

Tensor zeroForm(const Tensor& self) { return boxcar::zeros_like(self); }

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("uniform", BOXCAR_FN(uniformForm));
  m.impl("normal_functional", BOXCAR_FN(normalForm));
  m.impl("log_normal", BOXCAR_FN(logNormalForm));
  m.impl("cauchy", BOXCAR_FN(cauchyForm));
  m.impl("exponential", BOXCAR_FN(exponentialForm));
  m.impl("geometric", BOXCAR_FN(geometricForm));
  m.impl("bernoulli.Tensor", BOXCAR_FN(bernoulliForm));
  m.impl("random", BOXCAR_FN(randomForm));
  m.impl("random.to", BOXCAR_FN(randomToForm));
  m.impl("random.from", BOXCAR_FN(randomFromForm));
  m.impl("zero", BOXCAR_FN(zeroForm));
}

}  // namespace boxcar::composite
