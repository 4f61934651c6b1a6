#include <boxcar/backends/cpu/draws.h>
#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/meta/layout.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/random.h>
#include <boxcar/ivalue/stop_request.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numeric>
#include <span>
#include <vector>

namespace boxcar::cpu {
namespace {

// Writes the cumulative weights of a row to [sums]; returns the last one.
template <class T>
T addWeights(std::span<const T> weights, std::vector<T>& sums) {
  T sum(0);
  for (size_t i = 0; i < weights.size(); ++i) {
    const auto weight = static_cast<double>(weights[i]);
    BOXCAR_CHECK(weight >= 0 && std::isfinite(weight),
                 "invalid multinomial distribution: probability {} of category {} is negative, infinite or not a "
                 "number",
                 weight, i);
    sum = static_cast<T>(static_cast<Compute<T>>(sum) + static_cast<Compute<T>>(weights[i]));
    sums[i] = sum;
  }
  BOXCAR_CHECK(static_cast<double>(sum) > 0, "invalid multinomial distribution (sum of probabilities <= 0): it is {}",
               static_cast<double>(sum));
  return sum;
}

// Each sample is the category whose share of [0, 1) contains a uniform random number.
template <class T>
void sampleWithReplacement(const Tensor& weights, const Tensor& result, CpuGeneratorImpl& source) {
  const auto categories = static_cast<size_t>(weights.sizes().back());
  const int64_t samples = result.sizes().back();
  const int64_t rows = weights.numel() / weights.sizes().back();
  std::vector<T> sums(categories);
  StopCounter steps;
  for (int64_t row = 0; row < rows; ++row) {
    const T sum =
        addWeights(std::span<const T>(weights.data_ptr<T>() + row * weights.sizes().back(), categories), sums);
    for (T& part : sums) part = static_cast<T>(static_cast<Compute<T>>(part) / static_cast<Compute<T>>(sum));
    sums.back() = T(1);
    int64_t* chosen = result.data_ptr<int64_t>() + row * samples;
    for (int64_t i = 0; i < samples; ++i) {
      const double place = drawUniform<double>(source);
      const auto found = std::ranges::lower_bound(sums, place, {}, [](T part) { return static_cast<double>(part); });
      chosen[i] = found - sums.begin();
      steps.add(1);
    }
  }
}

// Chooses the categories with the largest ratio of weight to an exponential random number.
template <class T>
void sampleWithoutReplacement(const Tensor& self, const Tensor& weights, const Tensor& result,
                              CpuGeneratorImpl& source) {
  const auto categories = static_cast<size_t>(weights.sizes().back());
  const auto samples = static_cast<size_t>(result.sizes().back());
  const int64_t rows = weights.numel() / weights.sizes().back();
  std::vector<T> sums(categories);
  for (int64_t row = 0; row < rows; ++row) {
    addWeights(std::span<const T>(weights.data_ptr<T>() + row * weights.sizes().back(), categories), sums);
  }
  // Drawn in the memory order of the weights.
  const Tensor drawn = meta::allocateStrided(self.sizes(), meta::denseStrides(self), self.scalar_type(), self.device());
  fillInOrder<double>(drawn, [&] { return drawExponential(source, 1); });
  const Tensor divisors = toContiguous(drawn);
  std::vector<T> keys(categories);
  std::vector<int64_t> order(categories);
  StopCounter steps;
  for (int64_t row = 0; row < rows; ++row) {
    const T* weight = weights.data_ptr<T>() + row * weights.sizes().back();
    const T* divisor = divisors.data_ptr<T>() + row * weights.sizes().back();
    for (size_t i = 0; i < categories; ++i) {
      // 0 / 0 would be NaN.
      const auto share = static_cast<Compute<T>>(weight[i]) / static_cast<Compute<T>>(divisor[i]);
      keys[i] = static_cast<T>(static_cast<Compute<T>>(weight[i]) == 0 ? 0 : share);
    }
    std::iota(order.begin(), order.end(), 0);
    const auto before = [&](int64_t a, int64_t b) {
      const auto key_a = static_cast<Compute<T>>(keys[static_cast<size_t>(a)]);
      const auto key_b = static_cast<Compute<T>>(keys[static_cast<size_t>(b)]);
      return key_a != key_b ? key_a > key_b : a < b;
    };
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(samples), order.end(), before);
    steps.add(static_cast<int64_t>(categories));
    std::copy_n(order.begin(), samples, result.data_ptr<int64_t>() + row * result.sizes().back());
  }
}

void sample(const Tensor& result, const Tensor& self, bool replacement, const OptionalGenerator& generator) {
  CpuGeneratorImpl& source = generatorOf(generator);
  const std::lock_guard lock(source.mutex());
  const Tensor weights = toContiguous(self);
  visitScalarType(kFloatingTypes, self.scalar_type(), "multinomial", [&]<class T>(std::type_identity<T>) {
    if (replacement && result.sizes().back() > 1) {
      sampleWithReplacement<T>(weights, result, source);
    } else {
      sampleWithoutReplacement<T>(self, weights, result, source);
    }
  });
}

}  // namespace
}  // namespace boxcar::cpu

namespace boxcar::native {

BOXCAR_REGISTER_STUB(CPU, drawCategories, cpu::sample)

}  // namespace boxcar::native
