#pragma once

#include <boxcar/backends/cpu/callable_ref.h>
#include <boxcar/backends/elements/element.h>
#include <boxcar/ivalue/cpu_generator.h>
#include <boxcar/ivalue/tensor.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>

// Random numbers of one kind, drawn from the generator one after another: for a seed, those that PyTorch draws on the
// CPU. Elements get theirs in the order of memory, in one thread, so that it does not matter how many there are.

namespace boxcar::cpu {

// The generator that is given, else the default one; an Error when it is not the CPU's.
CpuGeneratorImpl& generatorOf(const std::optional<Generator>& given);

// A number of [0, 1) with as many random bits as T has digits.
template <class T>
auto drawUniform(CpuGeneratorImpl& generator) {
  using Value = elements::Compute<T>;
  constexpr int kDigits = std::numeric_limits<T>::digits;
  constexpr uint64_t kMask = (uint64_t{1} << kDigits) - 1;
  constexpr Value kUnit = Value(1) / static_cast<Value>(uint64_t{1} << kDigits);
  if constexpr (std::is_same_v<T, double>) {
    return static_cast<Value>(generator.random64() & kMask) * kUnit;
  } else {
    return static_cast<Value>(generator.random() & kMask) * kUnit;
  }
}

// A number above 0 whose density falls with [rate].
inline double drawExponential(CpuGeneratorImpl& generator, double rate) {
  return -1.0 / rate * std::log(1.0 - drawUniform<double>(generator));
}

// Sets the elements of [self]: draw(to, n) writes the next [n] numbers, elements of [drawn], which are converted.
void fillBlocksInOrder(const Tensor& self, ScalarType drawn, CallableRef<void(void* to, int64_t n)> draw);

// Sets every element of [self] to what [draw] gives, a V that is converted.
template <class V, class Draw>
void fillInOrder(const Tensor& self, const Draw& draw) {
  fillBlocksInOrder(self, scalarTypeOf<V>, [&](void* to, int64_t n) {
    for (int64_t i = 0; i < n; ++i) static_cast<V*>(to)[i] = draw();
  });
}

}  // namespace boxcar::cpu
