#include <boxcar/backends/cpu/draws.h>
#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/random.h>
#include <boxcar/ivalue/stop_request.h>

#include <limits>
#include <mutex>
#include <numeric>
#include <optional>
#include <utility>

namespace boxcar::cpu {
namespace {

// Integers in a range use 32 random bits if those are enough, or if the dtype holds no more.
int64_t drawFrom(CpuGeneratorImpl& generator, const meta::IntegerRange& range, bool may_be_wide) {
  if (range.count == 0) return static_cast<int64_t>(generator.random64());
  const bool wide = may_be_wide && range.count > std::numeric_limits<uint32_t>::max();
  const uint64_t bits = wide ? generator.random64() : generator.random();
  return static_cast<int64_t>(bits % range.count + static_cast<uint64_t>(range.base));
}

// The full range of a dtype: integers from 0 to its maximum, floats up to where they can no longer represent every
// integer.
struct Extent {
  uint64_t largest;
  bool wide;
};
Extent extentOf(ScalarType type) {
  return visitScalarType(kRealAndBoolTypes, type, "random_", []<class T>(std::type_identity<T>) {
    constexpr bool kIsWide = std::is_same_v<T, int64_t> || std::is_same_v<T, double>;
    constexpr uint64_t kLargest = std::is_integral_v<T> ? static_cast<uint64_t>(std::numeric_limits<T>::max())
                                                        : uint64_t{1} << std::numeric_limits<T>::digits;
    return Extent{kLargest, kIsWide};
  });
}

void integers(const Tensor& self, const std::optional<meta::IntegerRange>& range, const OptionalGenerator& generator) {
  CpuGeneratorImpl& source = generatorOf(generator);
  const std::lock_guard lock(source.mutex());
  const ScalarType type = self.scalar_type();
  const Extent extent = extentOf(type);
  if (range) {
    const bool may_be_wide = type == ScalarType::Long || (isFloatingType(type) && type != ScalarType::Half);
    return fillInOrder<int64_t>(self, [&] { return drawFrom(source, *range, may_be_wide); });
  }
  fillInOrder<int64_t>(self, [&] {
    const uint64_t bits = extent.wide ? source.random64() : source.random();
    return static_cast<int64_t>(bits % (extent.largest + 1));
  });
}

// Each position in turn takes one of the remaining numbers.
void shuffleNumbers(int64_t* numbers, int64_t n, CpuGeneratorImpl& generator) {
  std::iota(numbers, numbers + n, 0);
  constexpr int64_t kMany = std::numeric_limits<uint32_t>::max() / 20;
  StopCounter steps;
  if (n < kMany) {
    for (int64_t i = 0; i < n - 1; ++i) {
      std::swap(numbers[i], numbers[i + generator.random() % (n - i)]);
      steps.add(1);
    }
    return;
  }
  // 32 bits would favour lower positions, so this uses an inside-out shuffle with 64 bits.
  for (int64_t i = 0; i < n; ++i) {
    const auto place = static_cast<int64_t>(generator.random64() % static_cast<uint64_t>(i + 1));
    numbers[i] = numbers[place];
    numbers[place] = i;
    steps.add(1);
  }
}

void permute(const Tensor& numbers, const OptionalGenerator& generator) {
  CpuGeneratorImpl& source = generatorOf(generator);
  const std::lock_guard lock(source.mutex());
  const bool is_long = numbers.scalar_type() == ScalarType::Long;
  const Tensor places = is_long ? numbers : Tensor::allocate(numbers.sizes(), ScalarType::Long);
  shuffleNumbers(places.data_ptr<int64_t>(), numbers.numel(), source);
  if (!is_long) copyElements(numbers, places);
}

}  // namespace
}  // namespace boxcar::cpu

namespace boxcar::native {

BOXCAR_REGISTER_STUB(CPU, fillIntegers, cpu::integers)
BOXCAR_REGISTER_STUB(CPU, shuffle, cpu::permute)

}  // namespace boxcar::native
