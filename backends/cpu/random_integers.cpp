#include <boxcar/backends/cpu/draws.h>
#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/dense/random.h>

#include <limits>
#include <mutex>
#include <optional>
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

void integers(const Tensor& self, const std::optional<shape::IntegerRange>& range, const OptionalGenerator& generator) {
  CpuGeneratorImpl& source = generatorOf(generator);
  const std::lock_guard lock(source.mutex());
  visitScalarType(kRealAndBoolTypes, self.scalar_type(), "random_", [&]<class T>(std::type_identity<T>) {
    if (range) {
      fillInOrder<T>(self, [&] { return drawFrom<T>(source, *range); });
    } else {
      fillInOrder<T>(self, [&] { return drawAny<T>(source); });
    }
  });
}

// Each place in turn takes one of the numbers that are left.
template <class T>
void shuffleNumbers(T* numbers, int64_t n, CpuGeneratorImpl& generator) {
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

void permute(const Tensor& numbers, const OptionalGenerator& generator) {
  CpuGeneratorImpl& source = generatorOf(generator);
  const std::lock_guard lock(source.mutex());
  visitScalarType(kRealTypes, numbers.scalar_type(), "randperm", [&]<class T>(std::type_identity<T>) {
    shuffleNumbers(numbers.data_ptr<T>(), numbers.numel(), source);
  });
}

}  // namespace
}  // namespace boxcar::cpu

namespace boxcar::dense {

constinit DeviceFunction<FillIntegers> fillIntegers("random_", cpu::integers);
constinit DeviceFunction<Shuffle> shuffle("randperm", cpu::permute);

}  // namespace boxcar::dense
