#include <boxcar/backends/cpu/iterator.h>
#include <boxcar/backends/cpu/normal_block.h>
#include <boxcar/dispatcher/library.h>
#include <boxcar/ivalue/cpu_generator.h>
#include <boxcar/ivalue/error.h>

#include <array>
#include <cmath>
#include <limits>
#include <mutex>
#include <numbers>
#include <optional>

// Random numbers: for a seed, those that PyTorch draws on the CPU, one after another in the order of memory.

namespace boxcar::cpu {
namespace {

CpuGeneratorImpl& generatorOf(const std::optional<Generator>& given) {
  const Generator& generator = given.has_value() && given->defined() ? *given : defaultCpuGenerator();
  auto* impl = dynamic_cast<CpuGeneratorImpl*>(generator.unsafeGetGeneratorImpl());
  BOXCAR_CHECK(impl != nullptr, "Expected a 'cpu' device type for generator but found '{}'", generator.device());
  return *impl;
}

// A number of [0, 1) with as many random bits as T has digits.
template <class T>
auto drawUniform(CpuGeneratorImpl& generator) {
  using Value = Compute<T>;
  constexpr int kDigits = std::numeric_limits<T>::digits;
  constexpr uint64_t kMask = (uint64_t{1} << kDigits) - 1;
  constexpr Value kUnit = Value(1) / static_cast<Value>(uint64_t{1} << kDigits);
  if constexpr (std::is_same_v<T, double>) {
    return static_cast<Value>(generator.random64() & kMask) * kUnit;
  } else {
    return static_cast<Value>(generator.random() & kMask) * kUnit;
  }
}

// Two normal numbers come of two uniform ones (Box and Muller); the second waits for the next call.
double drawNormal(CpuGeneratorImpl& generator) {
  if (generator.next_normal().has_value()) {
    const double kept = *generator.next_normal();
    generator.next_normal().reset();
    return kept;
  }
  const double turn = 2 * std::numbers::pi * drawUniform<double>(generator);
  const double radius = std::sqrt(-2 * std::log1p(-drawUniform<double>(generator)));
  generator.next_normal() = radius * std::sin(turn);
  return radius * std::cos(turn);
}

// Sets every element of [self] to what [draw] gives.
template <class T, class Draw>
void fillInOrder(const Tensor& self, const Draw& draw) {
  StridedLoop nest(self.sizes());
  nest.add(self.data_ptr(), self.sizes(), self.strides(), self.itemsize());
  nest.run([&](char* const* data, const int64_t* steps, int64_t n0, int64_t n1) {
    elementwise<T>(data, steps, n0, n1, [&] { return static_cast<T>(draw()); });
  });
}

// makeNormalBlock for other types than float.
template <class T>
void makeNormal(T* values, Compute<T> mean, Compute<T> std) {
  using Value = Compute<T>;
  if constexpr (std::is_same_v<T, float>) return makeNormalBlock(values, mean, std);
  for (int i = 0; i < 8; ++i) {
    const Value u1 = Value(1) - static_cast<Value>(values[i]);
    const Value u2 = static_cast<Value>(values[i + 8]);
    const Value radius = std::sqrt(Value(-2) * std::log(u1));
    const Value turn = Value(2) * std::numbers::pi_v<Value> * u2;
    values[i] = static_cast<T>(radius * std::cos(turn) * std + mean);
    values[i + 8] = static_cast<T>(radius * std::sin(turn) * std + mean);
  }
}

constexpr int64_t kBlock = 16;

// Many normal numbers are drawn in blocks of sixteen; the last block is drawn again, so that it reaches the end.
template <class T>
void fillNormalBlocks(CpuGeneratorImpl& generator, const Tensor& self, double mean, double std) {
  T* values = self.data_ptr<T>();
  const int64_t n = self.numel();
  for (int64_t i = 0; i < n; ++i) values[i] = static_cast<T>(drawUniform<T>(generator));
  for (int64_t i = 0; i + kBlock <= n; i += kBlock) {
    makeNormal(values + i, static_cast<Compute<T>>(mean), static_cast<Compute<T>>(std));
  }
  if (n % kBlock == 0) return;
  T* last = values + n - kBlock;
  for (int64_t i = 0; i < kBlock; ++i) last[i] = static_cast<T>(drawUniform<T>(generator));
  makeNormal(last, static_cast<Compute<T>>(mean), static_cast<Compute<T>>(std));
}

Tensor& uniform(Tensor& self, double from, double to, std::optional<Generator> generator) {
  checkOnCpu(self);
  checkNoInternalOverlap(self);
  BOXCAR_CHECK(from <= to, "uniform_ expects to return a [from, to) range, but found from={} > to={}", from, to);
  CpuGeneratorImpl& source = generatorOf(generator);
  const std::lock_guard lock(source.mutex());
  visitScalarType(kFloatingTypes, self.scalar_type(), "uniform_", [&]<class T>(std::type_identity<T>) {
    // The bounds are elements, and so is their distance.
    using Value = Compute<T>;
    const auto low = static_cast<Value>(static_cast<T>(from));
    const auto range = static_cast<Value>(static_cast<T>(static_cast<Value>(static_cast<T>(to)) - low));
    if (low == 0 && range == 1) {
      fillInOrder<T>(self, [&] { return drawUniform<T>(source); });
    } else {
      fillInOrder<T>(self, [&] { return std::fma(drawUniform<T>(source), range, low); });
    }
  });
  self.storage()->bumpVersion();
  return self;
}

Tensor& normal(Tensor& self, double mean, double std, std::optional<Generator> generator) {
  checkOnCpu(self);
  checkNoInternalOverlap(self);
  BOXCAR_CHECK(std >= 0, "normal expects std >= 0.0, but found std {}", std);
  CpuGeneratorImpl& source = generatorOf(generator);
  const std::lock_guard lock(source.mutex());
  visitScalarType(kFloatingTypes, self.scalar_type(), "normal_", [&]<class T>(std::type_identity<T>) {
    if (self.numel() >= kBlock && self.is_contiguous()) {
      fillNormalBlocks<T>(source, self, mean, std);
    } else {
      fillInOrder<T>(self, [&] { return static_cast<Compute<T>>(drawNormal(source) * std + mean); });
    }
  });
  self.storage()->bumpVersion();
  return self;
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CPU, m) {
  m.impl("uniform_", BOXCAR_FN(uniform));
  m.impl("normal_", BOXCAR_FN(normal));
}

}  // namespace boxcar::cpu
