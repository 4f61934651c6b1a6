#include <boxcar/backends/cpu/draws.h>
#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/normal_block.h>
#include <boxcar/backends/native/random.h>
#include <boxcar/ivalue/stop_request.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numbers>

namespace boxcar::cpu {
namespace {

// Two uniform numbers give two normal ones (Box-Muller); the second is kept for the next call.
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

// Does the same as makeNormalBlock, for all types.
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

// Many normal numbers are drawn in blocks of sixteen; the last block is drawn again, aligned with the end.
template <class T>
void fillNormalBlocks(CpuGeneratorImpl& generator, const Tensor& self, double mean, double std) {
  T* values = self.data_ptr<T>();
  const int64_t n = self.numel();
  // All uniform numbers are drawn first, since the last block may be drawn again.
  for (int64_t begin = 0; begin < n; begin += kStopInterval) {
    if (begin > 0) checkStop();
    const int64_t end = std::min(n, begin + kStopInterval);
    for (int64_t i = begin; i < end; ++i) values[i] = static_cast<T>(drawUniform<T>(generator));
    for (int64_t i = begin; i + kBlock <= end; i += kBlock) {
      makeNormal(values + i, static_cast<Compute<T>>(mean), static_cast<Compute<T>>(std));
    }
  }
  if (n % kBlock == 0) return;
  T* last = values + n - kBlock;
  for (int64_t i = 0; i < kBlock; ++i) last[i] = static_cast<T>(drawUniform<T>(generator));
  makeNormal(last, static_cast<Compute<T>>(mean), static_cast<Compute<T>>(std));
}

void uniform(const Tensor& self, double from, double to, const OptionalGenerator& generator) {
  CpuGeneratorImpl& source = generatorOf(generator);
  const std::lock_guard lock(source.mutex());
  visitScalarType(kFloatingTypes, self.scalar_type(), "uniform_", [&]<class T>(std::type_identity<T>) {
    // The bounds are rounded to the dtype, and so is their difference.
    using Value = Compute<T>;
    const auto low = static_cast<Value>(static_cast<T>(from));
    const auto range = static_cast<Value>(static_cast<T>(static_cast<Value>(static_cast<T>(to)) - low));
    if (low == 0 && range == 1) {
      fillInOrder<Value>(self, [&] { return drawUniform<T>(source); });
    } else {
      fillInOrder<Value>(self, [&] { return std::fma(drawUniform<T>(source), range, low); });
    }
  });
}

void normal(const Tensor& self, double mean, double std, const OptionalGenerator& generator) {
  CpuGeneratorImpl& source = generatorOf(generator);
  const std::lock_guard lock(source.mutex());
  visitScalarType(kFloatingTypes, self.scalar_type(), "normal_", [&]<class T>(std::type_identity<T>) {
    if (self.numel() >= kBlock && self.is_contiguous()) {
      fillNormalBlocks<T>(source, self, mean, std);
    } else {
      fillInOrder<double>(self, [&] { return drawNormal(source) * std + mean; });
    }
  });
}

void exponential(const Tensor& self, double rate, const OptionalGenerator& generator) {
  CpuGeneratorImpl& source = generatorOf(generator);
  const std::lock_guard lock(source.mutex());
  fillInOrder<double>(self, [&] { return drawExponential(source, rate); });
}

}  // namespace
}  // namespace boxcar::cpu

namespace boxcar::native {

BOXCAR_REGISTER_STUB(CPU, fillUniform, cpu::uniform)
BOXCAR_REGISTER_STUB(CPU, fillNormal, cpu::normal)
BOXCAR_REGISTER_STUB(CPU, fillExponential, cpu::exponential)

}  // namespace boxcar::native
