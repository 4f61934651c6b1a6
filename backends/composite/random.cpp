#include <boxcar/backends/composite/write_out.h>
#include <boxcar/backends/meta/broadcast.h>
#include <boxcar/backends/meta/dims.h>
#include <boxcar/backends/meta/random.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/storage_without_memory.h>
#include <boxcar/ops.h>

#include <optional>
#include <span>

// Random tensors, built from `empty` and the operators that fill a tensor with random numbers.

namespace boxcar::composite {
namespace {

using IntSpan = std::span<const int64_t>;
using OptionalType = std::optional<ScalarType>;
using OptionalLayout = std::optional<Layout>;
using OptionalDevice = std::optional<Device>;
using OptionalBool = std::optional<bool>;
using OptionalFormat = std::optional<MemoryFormat>;
using OptionalGenerator = std::optional<Generator>;

// Uniform numbers.

Tensor randGenerator(IntSpan size, OptionalGenerator generator, OptionalType dtype, OptionalLayout layout,
                     OptionalDevice device, OptionalBool pin_memory) {
  Tensor result = boxcar::empty(size, dtype, layout, device, pin_memory);
  return boxcar::uniform_(result, 0, 1, generator);
}
Tensor rand(IntSpan size, OptionalType dtype, OptionalLayout layout, OptionalDevice device, OptionalBool pin_memory) {
  return randGenerator(size, std::nullopt, dtype, layout, device, pin_memory);
}
Tensor& randGeneratorOut(IntSpan size, OptionalGenerator generator, Tensor& out) {
  if (!out.is_complex()) meta::checkFloating("rand", out.scalar_type());
  return boxcar::uniform_(boxcar::empty_out(out, size), 0, 1, generator);
}
Tensor& randOut(IntSpan size, Tensor& out) { return randGeneratorOut(size, std::nullopt, out); }
Tensor randLike(const Tensor& self, OptionalType dtype, OptionalLayout layout, OptionalDevice device,
                OptionalBool pin_memory, OptionalFormat memory_format) {
  Tensor result = boxcar::empty_like(self, dtype, layout, device, pin_memory, memory_format);
  return boxcar::uniform_(result, 0, 1);
}

// Normal numbers.

Tensor randnGenerator(IntSpan size, OptionalGenerator generator, OptionalType dtype, OptionalLayout layout,
                      OptionalDevice device, OptionalBool pin_memory) {
  Tensor result = boxcar::empty(size, dtype, layout, device, pin_memory);
  return boxcar::normal_(result, 0, 1, generator);
}
Tensor randn(IntSpan size, OptionalType dtype, OptionalLayout layout, OptionalDevice device, OptionalBool pin_memory) {
  return randnGenerator(size, std::nullopt, dtype, layout, device, pin_memory);
}
Tensor& normalNumbersOut(double mean, double std, IntSpan size, OptionalGenerator generator, Tensor& out) {
  BOXCAR_CHECK(std >= 0, "normal expects std >= 0.0, but found std {}", std);
  if (!out.is_complex()) meta::checkFloating("normal", out.scalar_type());
  boxcar::empty_out(out, size);
  return out.numel() == 0 ? out : boxcar::normal_(out, mean, std, generator);
}
Tensor& randnGeneratorOut(IntSpan size, OptionalGenerator generator, Tensor& out) {
  return normalNumbersOut(0, 1, size, generator, out);
}
Tensor& randnOut(IntSpan size, Tensor& out) { return normalNumbersOut(0, 1, size, std::nullopt, out); }
Tensor randnLike(const Tensor& self, OptionalType dtype, OptionalLayout layout, OptionalDevice device,
                 OptionalBool pin_memory, OptionalFormat memory_format) {
  Tensor result = boxcar::empty_like(self, dtype, layout, device, pin_memory, memory_format);
  return boxcar::normal_(result, 0, 1);
}

Tensor normalNumbers(double mean, double std, IntSpan size, OptionalGenerator generator, OptionalType dtype,
                     OptionalLayout layout, OptionalDevice device, OptionalBool pin_memory) {
  Tensor result = boxcar::empty(size, dtype, layout, device, pin_memory);
  return boxcar::normal_(result, mean, std, generator);
}
Tensor normalMean(const Tensor& mean, double std, OptionalGenerator generator) {
  Tensor result = boxcar::empty_like(mean);
  boxcar::normal_(result, 0, std, generator);
  return boxcar::add_(result, mean);
}
void checkDeviations(const Tensor& std) {
  BOXCAR_CHECK(!std.is_complex(), "normal expects standard deviation to be non-complex, but it is {}",
               dtypeName(std.scalar_type()));
  const bool valid = lacksElements(std) || std.numel() == 0 || boxcar::item(boxcar::all(boxcar::ge(std, 0))).toBool();
  BOXCAR_CHECK(valid, "normal expects all elements of std >= 0.0");
}
Tensor normalDeviation(double mean, const Tensor& std, OptionalGenerator generator) {
  checkDeviations(std);
  Tensor result = boxcar::empty_like(std);
  boxcar::normal_(result, 0, 1, generator);
  return boxcar::add_(boxcar::mul_(result, std), mean);
}
Tensor normalBoth(const Tensor& mean, const Tensor& std, OptionalGenerator generator) {
  checkDeviations(std);
  const DimVector sizes = meta::broadcast(mean.sizes(), std.sizes());
  Tensor result = boxcar::empty(sizes, mean.scalar_type(), std::nullopt, mean.device());
  boxcar::normal_(result, 0, 1, generator);
  return boxcar::add_(boxcar::mul_(result, std), mean);
}
// Checks [out] before numbers are drawn for it.
void checkDrawnLike(const Tensor& like, const Tensor& out) {
  meta::checkOutput({out, out.sizes(), {}, like.scalar_type(), like.device(), meta::OutputType::kCastable});
}
Tensor& normalMeanOut(const Tensor& mean, double std, OptionalGenerator generator, Tensor& out) {
  checkDrawnLike(mean, out);
  return writeResult(out, normalMean(mean, std, generator));
}
Tensor& normalDeviationOut(double mean, const Tensor& std, OptionalGenerator generator, Tensor& out) {
  checkDrawnLike(std, out);
  return writeResult(out, normalDeviation(mean, std, generator));
}
Tensor& normalBothOut(const Tensor& mean, const Tensor& std, OptionalGenerator generator, Tensor& out) {
  checkDrawnLike(mean, out);
  return writeResult(out, normalBoth(mean, std, generator));
}

// Integers.

Tensor randintLowGenerator(int64_t low, int64_t high, IntSpan size, OptionalGenerator generator, OptionalType dtype,
                           OptionalLayout layout, OptionalDevice device, OptionalBool pin_memory) {
  Tensor result = boxcar::empty(size, dtype.value_or(ScalarType::Long), layout, device, pin_memory);
  return boxcar::random_(result, low, high, generator);
}
Tensor randintLow(int64_t low, int64_t high, IntSpan size, OptionalType dtype, OptionalLayout layout,
                  OptionalDevice device, OptionalBool pin_memory) {
  return randintLowGenerator(low, high, size, std::nullopt, dtype, layout, device, pin_memory);
}
Tensor randintGenerator(int64_t high, IntSpan size, OptionalGenerator generator, OptionalType dtype,
                        OptionalLayout layout, OptionalDevice device, OptionalBool pin_memory) {
  return randintLowGenerator(0, high, size, generator, dtype, layout, device, pin_memory);
}
Tensor randint(int64_t high, IntSpan size, OptionalType dtype, OptionalLayout layout, OptionalDevice device,
               OptionalBool pin_memory) {
  return randintLowGenerator(0, high, size, std::nullopt, dtype, layout, device, pin_memory);
}
Tensor& randintLowGeneratorOut(int64_t low, int64_t high, IntSpan size, OptionalGenerator generator, Tensor& out) {
  meta::integerRange(out.scalar_type(), low, high);
  return boxcar::random_(boxcar::empty_out(out, size), low, high, generator);
}
Tensor& randintLowOut(int64_t low, int64_t high, IntSpan size, Tensor& out) {
  return randintLowGeneratorOut(low, high, size, std::nullopt, out);
}
Tensor& randintGeneratorOut(int64_t high, IntSpan size, OptionalGenerator generator, Tensor& out) {
  return randintLowGeneratorOut(0, high, size, generator, out);
}
Tensor& randintOut(int64_t high, IntSpan size, Tensor& out) {
  return randintLowGeneratorOut(0, high, size, std::nullopt, out);
}
Tensor randintLikeLow(const Tensor& self, int64_t low, int64_t high, OptionalType dtype, OptionalLayout layout,
                      OptionalDevice device, OptionalBool pin_memory, OptionalFormat memory_format) {
  Tensor result = boxcar::empty_like(self, dtype, layout, device, pin_memory, memory_format);
  return boxcar::random_(result, low, high);
}
Tensor randintLike(const Tensor& self, int64_t high, OptionalType dtype, OptionalLayout layout, OptionalDevice device,
                   OptionalBool pin_memory, OptionalFormat memory_format) {
  return randintLikeLow(self, 0, high, dtype, layout, device, pin_memory, memory_format);
}

Tensor randpermGenerator(int64_t n, OptionalGenerator generator, OptionalType dtype, OptionalLayout layout,
                         OptionalDevice device, OptionalBool pin_memory) {
  meta::checkPermutation(n, dtype.value_or(ScalarType::Long));
  Tensor result = boxcar::empty(IntSpan(&n, 1), dtype.value_or(ScalarType::Long), layout, device, pin_memory);
  return boxcar::randperm_out(result, n, generator);
}
Tensor randperm(int64_t n, OptionalType dtype, OptionalLayout layout, OptionalDevice device, OptionalBool pin_memory) {
  return randpermGenerator(n, std::nullopt, dtype, layout, device, pin_memory);
}

// Ones and zeros.

Tensor bernoulli(const Tensor& self, OptionalGenerator generator) {
  Tensor result = boxcar::empty_like(self);
  return boxcar::bernoulli_(result, self, generator);
}
Tensor& bernoulliOut(const Tensor& self, OptionalGenerator generator, Tensor& out) {
  // Ones and zeros have the dtype of [out], which is checked before they are drawn.
  meta::checkOutput({out, self.sizes(), {}, out.scalar_type(), self.device()});
  Tensor drawn = boxcar::empty_like(self, out.scalar_type());
  boxcar::bernoulli_(drawn, self, generator);
  return writeSameType(out, drawn);
}
Tensor bernoulliNumber(const Tensor& self, double p, OptionalGenerator generator) {
  Tensor result = boxcar::empty_like(self);
  return boxcar::bernoulli_(result, p, generator);
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("rand", BOXCAR_FN(rand));
  m.impl("rand.generator", BOXCAR_FN(randGenerator));
  m.impl("rand.out", BOXCAR_FN(randOut));
  m.impl("rand.generator_out", BOXCAR_FN(randGeneratorOut));
  m.impl("rand_like", BOXCAR_FN(randLike));
  m.impl("randn", BOXCAR_FN(randn));
  m.impl("randn.generator", BOXCAR_FN(randnGenerator));
  m.impl("randn.out", BOXCAR_FN(randnOut));
  m.impl("randn.generator_out", BOXCAR_FN(randnGeneratorOut));
  m.impl("randn_like", BOXCAR_FN(randnLike));
  m.impl("normal.float_float", BOXCAR_FN(normalNumbers));
  m.impl("normal.float_float_out", BOXCAR_FN(normalNumbersOut));
  m.impl("normal.Tensor_float", BOXCAR_FN(normalMean));
  m.impl("normal.Tensor_float_out", BOXCAR_FN(normalMeanOut));
  m.impl("normal.float_Tensor", BOXCAR_FN(normalDeviation));
  m.impl("normal.float_Tensor_out", BOXCAR_FN(normalDeviationOut));
  m.impl("normal.Tensor_Tensor", BOXCAR_FN(normalBoth));
  m.impl("normal.Tensor_Tensor_out", BOXCAR_FN(normalBothOut));
  m.impl("randint", BOXCAR_FN(randint));
  m.impl("randint.generator", BOXCAR_FN(randintGenerator));
  m.impl("randint.low", BOXCAR_FN(randintLow));
  m.impl("randint.low_generator", BOXCAR_FN(randintLowGenerator));
  m.impl("randint.out", BOXCAR_FN(randintOut));
  m.impl("randint.generator_out", BOXCAR_FN(randintGeneratorOut));
  m.impl("randint.low_out", BOXCAR_FN(randintLowOut));
  m.impl("randint.low_generator_out", BOXCAR_FN(randintLowGeneratorOut));
  m.impl("randint_like", BOXCAR_FN(randintLike));
  m.impl("randint_like.low_dtype", BOXCAR_FN(randintLikeLow));
  m.impl("randperm", BOXCAR_FN(randperm));
  m.impl("randperm.generator", BOXCAR_FN(randpermGenerator));
  m.impl("bernoulli", BOXCAR_FN(bernoulli));
  m.impl("bernoulli.out", BOXCAR_FN(bernoulliOut));
  m.impl("bernoulli.p", BOXCAR_FN(bernoulliNumber));
}

}  // namespace boxcar::composite
