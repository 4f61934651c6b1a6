#include <boxcar/backends/cpu/draws.h>
#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/registration.h>
#include <boxcar/backends/dense/copy.h>
#include <boxcar/backends/dense/memory_checks.h>
#include <boxcar/backends/dense/pointwise.h>
#include <boxcar/backends/shape/random.h>

#include <limits>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

namespace boxcar::cpu {
namespace {

// Integers of a range are made of 32 random bits where those are enough.
template <class T>
T drawFrom(CpuGeneratorImpl& generator, const shape::IntegerRange& range) {
  constexpr bool kMayBeWide = std::is_same_v<T, int64_t> || std::is_floating_point_v<T> || std::is_same_v<T, BFloat16>;
  if (range.count == 0) return convertElement<T>(static_cast<int64_t>(generator.random64()));
  const bool wide = kMayBeWide && range.count > std::numeric_limits<uint32_t>::max();
  const uint64_t bits = wide ? generator.random64() : generator.random();
  return convertElement<T>(static_cast<int64_t>(bits % range.count + static_cast<uint64_t>(range.base)));
}

Tensor& fillFrom(Tensor& self, const shape::IntegerRange& range, const std::optional<Generator>& generator) {
  checkCpuOrMeta(self);
  checkNoInternalOverlap(self);
  if (self.is_meta()) return self;
  CpuGeneratorImpl& source = generatorOf(generator);
  const std::lock_guard lock(source.mutex());
  visitScalarType(kRealAndBoolTypes, self.scalar_type(), "random_", [&]<class T>(std::type_identity<T>) {
    fillInOrder<T>(self, [&] { return drawFrom<T>(source, range); });
  });
  self.storage()->bumpVersion();
  return self;
}

Tensor& randomFrom(Tensor& self, int64_t from, std::optional<int64_t> to, std::optional<Generator> generator) {
  checkCpuOrMeta(self);
  return fillFrom(self, shape::integerRange(self.scalar_type(), from, to), generator);
}
Tensor& randomTo(Tensor& self, int64_t to, std::optional<Generator> generator) {
  return randomFrom(self, 0, to, generator);
}

// All that the type holds: integers from 0 to its largest, floats to where they begin to leave integers out.
template <class T>
T drawAny(CpuGeneratorImpl& generator) {
  if constexpr (std::is_same_v<T, bool>) {
    return (generator.random() & 1) != 0;
  } else {
    constexpr bool kIsWide = std::is_same_v<T, int64_t> || std::is_same_v<T, double>;
    constexpr uint64_t kLargest = std::is_integral_v<T> ? static_cast<uint64_t>(std::numeric_limits<T>::max())
                                                        : uint64_t{1} << std::numeric_limits<T>::digits;
    const uint64_t bits = kIsWide ? generator.random64() : generator.random();
    return convertElement<T>(static_cast<int64_t>(bits % (kLargest + 1)));
  }
}

Tensor& random(Tensor& self, std::optional<Generator> generator) {
  checkCpuOrMeta(self);
  checkNoInternalOverlap(self);
  visitScalarType(kRealAndBoolTypes, self.scalar_type(), "random_", [&]<class T>(std::type_identity<T>) {
    if (self.is_meta()) return;
    CpuGeneratorImpl& source = generatorOf(generator);
    const std::lock_guard lock(source.mutex());
    fillInOrder<T>(self, [&] { return drawAny<T>(source); });
  });
  self.storage()->bumpVersion();
  return self;
}

// Each place in turn takes one of the numbers that are left.
template <class T>
void shuffle(T* numbers, int64_t n, CpuGeneratorImpl& generator) {
  for (int64_t i = 0; i < n; ++i) numbers[i] = convertElement<T>(i);
  constexpr int64_t kMany = std::numeric_limits<uint32_t>::max() / 20;
  if (n < kMany) {
    for (int64_t i = 0; i < n - 1; ++i) std::swap(numbers[i], numbers[i + generator.random() % (n - i)]);
    return;
  }
  // 32 bits would prefer the lower places: inside out, with 64.
  for (int64_t i = 0; i < n; ++i) {
    const auto place = static_cast<int64_t>(generator.random64() % static_cast<uint64_t>(i + 1));
    numbers[i] = numbers[place];
    numbers[place] = convertElement<T>(i);
  }
}

Tensor& permutationGeneratorOut(int64_t n, std::optional<Generator> generator, Tensor& out) {
  checkCpuOrMeta(out);
  shape::checkPermutation(n, out.scalar_type());
  CpuGeneratorImpl* const source = out.is_meta() ? nullptr : &generatorOf(generator);
  if (out.dim() != 1 || out.numel() != n) resizeOutput(out, std::span(&n, 1));
  if (source == nullptr) return out;
  const Tensor numbers = Tensor::allocate(out.sizes(), out.scalar_type());
  {
    const std::lock_guard lock(source->mutex());
    visitScalarType(kRealTypes, out.scalar_type(), "randperm",
                    [&]<class T>(std::type_identity<T>) { shuffle(numbers.data_ptr<T>(), n, *source); });
  }
  return writeResult(out, numbers);
}
Tensor& permutationOut(int64_t n, Tensor& out) { return permutationGeneratorOut(n, std::nullopt, out); }

}  // namespace

BOXCAR_CPU_AND_META(aten, m) {
  m.impl("random_.from", BOXCAR_FN(randomFrom));
  m.impl("random_.to", BOXCAR_FN(randomTo));
  m.impl("random_", BOXCAR_FN(random));
  m.impl("randperm.out", BOXCAR_FN(permutationOut));
  m.impl("randperm.generator_out", BOXCAR_FN(permutationGeneratorOut));
}

}  // namespace boxcar::cpu
