#pragma once

#include <boxcar/backends/cpu/loops.h>
#include <boxcar/backends/cpu/strided_loop.h>
#include <boxcar/backends/dense/recorded_work.h>
#include <boxcar/ivalue/cpu_generator.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/tensor.h>

#include <cmath>
#include <limits>
#include <optional>

// Random numbers of one kind, drawn from the generator one after another: for a seed, those that PyTorch draws on the
// CPU. Elements get theirs in the order of memory, in one thread, so that it does not matter how many there are.

namespace boxcar::cpu {

inline CpuGeneratorImpl& generatorOf(const std::optional<Generator>& given) {
  const Generator& generator = given.has_value() && given->defined() ? *given : defaultCpuGenerator();
  auto* impl = dynamic_cast<CpuGeneratorImpl*>(generator.unsafeGetGeneratorImpl());
  BOXCAR_CHECK(impl != nullptr, "Expected a 'cpu' device type for generator but found '{}'", generator.device());
  dense::refuseWhereRecorded("draws random numbers, which would be the same in every replay");
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

// A number above 0 whose density falls with [rate].
inline double drawExponential(CpuGeneratorImpl& generator, double rate) {
  return -1.0 / rate * std::log(1.0 - drawUniform<double>(generator));
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

}  // namespace boxcar::cpu
