#pragma once

#include <boxcar/backends/cpu/callable_ref.h>
#include <boxcar/backends/functors/element.h>
#include <boxcar/ivalue/cpu_generator.h>
#include <boxcar/ivalue/tensor.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>

// Random numbers of one kind, drawn from the generator one after another. For a given seed they match PyTorch's on the
// CPU. Elements receive theirs in memory order, in one thread, so the result does not depend on the number of threads.

namespace boxcar::cpu {

// Returns the given generator, else the default one. Throws Error if it is not a CPU generator.
CpuGeneratorImpl& generatorOf(const std::optional<Generator>& given);

// Returns a number in [0, 1) with as many random bits as T has digits.
template <class T>
auto drawUniform(CpuGeneratorImpl& generator) {
  using Value = functors::Compute<T>;
  constexpr int kDigits = std::numeric_limits<T>::digits;
  constexpr uint64_t kMask = (uint64_t{1} << kDigits) - 1;
  constexpr Value kUnit = Value(1) / static_cast<Value>(uint64_t{1} << kDigits);
  if constexpr (std::is_same_v<T, double>) {
    return static_cast<Value>(generator.random64() & kMask) * kUnit;
  } else {
    return static_cast<Value>(generator.random() & kMask) * kUnit;
  }
}

// Returns an exponentially distributed number with [rate].
inline double drawExponential(CpuGeneratorImpl& generator, double rate) {
  return -1.0 / rate * std::log(1.0 - drawUniform<double>(generator));
}

// Fills [self]: draw(to, n) writes the next [n] numbers as elements of [drawn], which are then converted.
void fillBlocksInOrder(const Tensor& self, ScalarType drawn, CallableRef<void(void* to, int64_t n)> draw);

// Sets every element of [self] to the next result of [draw], a V that is converted.
template <class V, class Draw>
void fillInOrder(const Tensor& self, const Draw& draw) {
  fillBlocksInOrder(self, scalarTypeOf<V>, [&](void* to, int64_t n) {
    for (int64_t i = 0; i < n; ++i) static_cast<V*>(to)[i] = draw();
  });
}

}  // namespace boxcar::cpu
