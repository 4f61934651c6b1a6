#include <boxcar/ivalue/cpu_generator.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <vector>

#include "tests/backends/cuda/on_device/device_helpers.h"

// Random numbers on a GPU.

namespace boxcar {
namespace {

using cuda::onCuda;
using cuda::onHost;

constexpr Device kFirst = cuda::kCuda;
constexpr Device kSecond(DeviceType::CUDA, 1);
constexpr int64_t kMany = 100000;
constexpr ScalarType kFloats[] = {ScalarType::Half, ScalarType::BFloat16, ScalarType::Float, ScalarType::Double};

Tensor emptyOn(Device device, IntArrayRef sizes, ScalarType type = ScalarType::Float) {
  return empty(sizes, type, std::nullopt, device);
}

std::vector<double> doubles(const Tensor& tensor) { return elements<double>(to(onHost(tensor), ScalarType::Double)); }

struct Moments {
  double mean;
  double deviation;
};
Moments momentsOf(const std::vector<double>& values) {
  double mean = 0;
  for (const double value : values) mean += value / static_cast<double>(values.size());
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, std::sqrt(squares / static_cast<double>(values.size()))};
}

double least(const std::vector<double>& values) { return std::ranges::min(values); }
double most(const std::vector<double>& values) { return std::ranges::max(values); }

// The first block for key 0 is a known answer of Philox.
TEST(CudaRandom, UniformNumbersAreMadeOfTheSeedsPhiloxBlocks) {
  manualSeed(0);
  const Tensor x = rand({3}, ScalarType::Float, std::nullopt, kFirst);
  EXPECT_EQ(elements<float>(onHost(x)), (std::vector<float>{0x6627e8p-24F, 0xe169c5p-24F, 0xbc57acp-24F}));
  EXPECT_EQ(defaultGenerator(kFirst).unsafeGetGeneratorImpl()->state().drawn, 4);
  manualSeed(0);
  const Tensor y = rand({1}, ScalarType::Double, std::nullopt, kFirst);
  EXPECT_EQ(elements<double>(onHost(y))[0], static_cast<double>(0xe169c58d6627e8d5 >> 11) * 0x1p-53);
  manualSeed(0);
  EXPECT_EQ(elements<int64_t>(onHost(randint(256, {4}, ScalarType::Long, std::nullopt, kFirst))),
            (std::vector<int64_t>{0x66, 0xe1, 0xbc, 0x9b}));
}

// All operators that draw random numbers, on many elements.
const std::vector<std::function<Tensor(Device, std::optional<Generator>)>>& draws() {
  static const std::vector<std::function<Tensor(Device, std::optional<Generator>)>> all = {
      [](Device device, const std::optional<Generator>& generator) {
        Tensor x = emptyOn(device, {1000});
        return uniform_(x, -1, 3, generator);
      },
      [](Device device, const std::optional<Generator>& generator) {
        Tensor x = emptyOn(device, {1000}, ScalarType::Double);
        return normal_(x, 0, 1, generator);
      },
      [](Device device, const std::optional<Generator>& generator) {
        Tensor x = emptyOn(device, {1000}, ScalarType::ComplexFloat);
        return view_as_real(normal_(x, 0, 1, generator));
      },
      [](Device device, const std::optional<Generator>& generator) {
        Tensor x = emptyOn(device, {1000});
        return exponential_(x, 2, generator);
      },
      [](Device device, const std::optional<Generator>& generator) {
        Tensor x = emptyOn(device, {1000}, ScalarType::Long);
        return random_(x, generator);
      },
      [](Device device, const std::optional<Generator>& generator) {
        Tensor x = emptyOn(device, {1000}, ScalarType::Int);
        return random_(x, -5, 1000000, generator);
      },
      [](Device device, const std::optional<Generator>& generator) {
        Tensor x = emptyOn(device, {1000});
        return bernoulli_(x, 0.5, generator);
      },
      [](Device device, const std::optional<Generator>& generator) {
        Tensor x = emptyOn(device, {1000});
        return bernoulli_(x, full({1000}, 0.5, std::nullopt, std::nullopt, device), generator);
      },
      [](Device device, const std::optional<Generator>& generator) {
        return multinomial(ones({3, 1000}, std::nullopt, std::nullopt, device), 50, true, generator);
      },
      [](Device device, const std::optional<Generator>& generator) {
        return multinomial(ones({100, 30}, std::nullopt, std::nullopt, device), 1, false, generator);
      },
  };
  return all;
}

TEST(CudaRandom, ASeedGivesTheSameNumbersAgainOnEachDevice) {
  for (size_t i = 0; i < draws().size(); ++i) {
    manualSeed(3);
    const std::vector<double> first = doubles(draws()[i](kFirst, std::nullopt));
    const std::vector<double> next = doubles(draws()[i](kFirst, std::nullopt));
    EXPECT_NE(first, next) << i;
    if (cuda::deviceCount() > 1) {
      EXPECT_EQ(doubles(draws()[i](kSecond, std::nullopt)), first) << i;
    }
    manualSeed(3);
    EXPECT_EQ(doubles(draws()[i](kFirst, std::nullopt)), first) << i;
    manualSeed(4);
    EXPECT_NE(doubles(draws()[i](kFirst, std::nullopt)), first) << i;
  }
}

TEST(CudaRandom, AGivenGeneratorHasItsOwnSequence) {
  for (size_t i = 0; i < draws().size(); ++i) {
    manualSeed(5);
    const GeneratorState before = defaultGenerator(kFirst).unsafeGetGeneratorImpl()->state();
    const Generator generator = makeGenerator(kFirst, 5);
    const std::vector<double> given = doubles(draws()[i](kFirst, generator));
    EXPECT_EQ(defaultGenerator(kFirst).unsafeGetGeneratorImpl()->state(), before) << i;
    EXPECT_EQ(doubles(draws()[i](kFirst, std::nullopt)), given) << i;
    EXPECT_EQ(defaultGenerator(kFirst).unsafeGetGeneratorImpl()->state(), generator.unsafeGetGeneratorImpl()->state())
        << i;
  }
}

TEST(CudaRandom, RefusesTheGeneratorOfAnotherDevice) {
  for (size_t i = 0; i < draws().size(); ++i) {
    EXPECT_EQ(errorOf([&] { draws()[i](kFirst, makeCpuGenerator(1)); }),
              "Expected a 'cuda:0' device type for generator but found 'cpu'")
        << i;
    if (cuda::deviceCount() > 1) {
      EXPECT_EQ(errorOf([&] { draws()[i](kFirst, makeGenerator(kSecond, 1)); }),
                "Expected a 'cuda:0' device type for generator but found 'cuda:1'")
          << i;
    }
    EXPECT_EQ(errorOf([&] { draws()[i](DeviceType::CPU, makeGenerator(kFirst, 1)); }),
              "Expected a 'cpu' device type for generator but found 'cuda:0'")
        << i;
  }
}

TEST(CudaRandom, GoesBackToAPlaceOfItsSequence) {
  const Generator generator = makeGenerator(kFirst, 9);
  GeneratorImpl* const impl = generator.unsafeGetGeneratorImpl();
  rand({5}, generator, ScalarType::Float, std::nullopt, kFirst);
  const GeneratorState state = impl->state();
  EXPECT_EQ(state, (GeneratorState{.seed = 9, .drawn = 8, .next_normal = std::nullopt}));
  const std::vector<double> next = doubles(rand({100}, generator, ScalarType::Float, std::nullopt, kFirst));
  generator.set_current_seed(1);
  EXPECT_EQ(impl->state(), (GeneratorState{.seed = 1, .drawn = 0, .next_normal = std::nullopt}));
  impl->set_state(state);
  EXPECT_EQ(doubles(rand({100}, generator, ScalarType::Float, std::nullopt, kFirst)), next);
}

TEST(CudaRandom, AGeneratorKnowsItsDeviceAndKeys) {
  const Generator generator = makeGenerator(DeviceType::CUDA, 2);
  EXPECT_EQ(generator.device(), kFirst);
  EXPECT_EQ(generator.key_set(), DispatchKeySet(DispatchKey::CUDA));
  EXPECT_EQ(toString(generator), "Generator(device='cuda:0', seed=2)");
  const std::string there = cuda::deviceCount() == 1
                                ? "there is only 1 CUDA device, so that the last one is 'cuda:0'"
                                : fmt::format("there are only {} CUDA devices, so that the last one is 'cuda:{}'",
                                              cuda::deviceCount(), cuda::deviceCount() - 1);
  EXPECT_EQ(errorOf([] { makeGenerator(Device(DeviceType::CUDA, 99), 2); }), "device 'cuda:99': " + there);
  EXPECT_EQ(errorOf([] { makeGenerator(DeviceType::Meta, 2); }),
            "device 'meta' has no generators of random numbers: no backend provides one");
}

TEST(CudaRandom, UniformNumbersFillTheirRange) {
  manualSeed(1);
  for (const ScalarType type : kFloats) {
    Tensor x = emptyOn(kFirst, {kMany}, type);
    const std::vector<double> values = doubles(uniform_(x, -2, 6));
    EXPECT_GE(least(values), -2) << dtypeName(type);
    EXPECT_LT(most(values), 6) << dtypeName(type);
    EXPECT_LT(least(values), -1.99) << dtypeName(type);
    EXPECT_GT(most(values), 5.9) << dtypeName(type);
    EXPECT_NEAR(momentsOf(values).mean, 2, 0.03) << dtypeName(type);
    EXPECT_NEAR(momentsOf(values).deviation, 8 / std::sqrt(12.0), 0.03) << dtypeName(type);
  }
  Tensor same = emptyOn(kFirst, {5});
  EXPECT_EQ(doubles(uniform_(same, 3, 3)), std::vector<double>(5, 3));
}

TEST(CudaRandom, NormalNumbersHaveTheirMoments) {
  manualSeed(1);
  for (const ScalarType type : kFloats) {
    Tensor x = emptyOn(kFirst, {kMany}, type);
    const std::vector<double> values = doubles(normal_(x, 1.5, 2));
    const Moments moments = momentsOf(values);
    EXPECT_NEAR(moments.mean, 1.5, 0.03) << dtypeName(type);
    EXPECT_NEAR(moments.deviation, 2, 0.02) << dtypeName(type);
    // Neighbours come from the same two uniform numbers, but must be uncorrelated, and so must their squares.
    double product = 0, squares = 0, within = 0;
    for (size_t i = 0; i + 1 < values.size(); i += 2) {
      const double a = (values[i] - 1.5) / 2, b = (values[i + 1] - 1.5) / 2;
      product += a * b * 2 / kMany;
      squares += a * a * b * b * 2 / kMany;
    }
    for (const double value : values) within += std::abs(value - 1.5) < 2 ? 1.0 / kMany : 0;
    EXPECT_NEAR(product, 0, 0.02) << dtypeName(type);
    EXPECT_NEAR(squares, 1, 0.05) << dtypeName(type);
    EXPECT_NEAR(within, 0.6827, 0.01) << dtypeName(type);
  }
  Tensor complex_numbers = emptyOn(kFirst, {kMany}, ScalarType::ComplexDouble);
  const Moments parts = momentsOf(doubles(view_as_real(normal_(complex_numbers, 0, 1))));
  EXPECT_NEAR(parts.deviation, std::sqrt(0.5), 0.01);
}

TEST(CudaRandom, ExponentialNumbersArePositiveAndFallWithTheirRate) {
  manualSeed(1);
  for (const ScalarType type : kFloats) {
    Tensor x = emptyOn(kFirst, {kMany}, type);
    const std::vector<double> values = doubles(exponential_(x, 0.5));
    EXPECT_GT(least(values), 0) << dtypeName(type);
    EXPECT_TRUE(std::isfinite(most(values))) << dtypeName(type);
    EXPECT_NEAR(momentsOf(values).mean, 2, 0.05) << dtypeName(type);
    EXPECT_NEAR(momentsOf(values).deviation, 2, 0.05) << dtypeName(type);
  }
}

TEST(CudaRandom, IntegersFillTheirRange) {
  manualSeed(1);
  for (const ScalarType type : {ScalarType::Half, ScalarType::BFloat16, ScalarType::Float, ScalarType::Double,
                                ScalarType::Char, ScalarType::Short, ScalarType::Int, ScalarType::Long}) {
    Tensor x = emptyOn(kFirst, {kMany}, type);
    const std::vector<double> values = doubles(random_(x, -50, 51));
    EXPECT_EQ(least(values), -50) << dtypeName(type);
    EXPECT_EQ(most(values), 50) << dtypeName(type);
    EXPECT_EQ(std::set<double>(values.begin(), values.end()).size(), 101) << dtypeName(type);
    EXPECT_NEAR(momentsOf(values).mean, 0, 0.5) << dtypeName(type);
    EXPECT_NEAR(momentsOf(values).deviation, 29.15, 0.3) << dtypeName(type);
  }
}

TEST(CudaRandom, IntegersOfAllBits) {
  manualSeed(1);
  constexpr int64_t kAmin = std::numeric_limits<int64_t>::min();
  Tensor longs = emptyOn(kFirst, {kMany}, ScalarType::Long);
  const std::vector<int64_t> all = elements<int64_t>(onHost(random_(longs, kAmin, std::optional<int64_t>())));
  EXPECT_LT(std::ranges::min(all), kAmin / 10 * 9);
  EXPECT_GT(std::ranges::max(all), -(kAmin / 10 * 9));
  Tensor ints = emptyOn(kFirst, {kMany}, ScalarType::Int);
  const std::vector<double> wide = doubles(random_(ints, std::numeric_limits<int32_t>::min(), int64_t{1} << 31));
  EXPECT_LT(least(wide), -2.1e9);
  EXPECT_GT(most(wide), 2.1e9);
  const std::vector<double> far =
      doubles(randint(-1000000000000, 1000000000000, {kMany}, ScalarType::Long, std::nullopt, kFirst));
  EXPECT_NEAR(least(far), -1e12, 1e9);
  EXPECT_NEAR(most(far), 1e12, 1e9);
  const std::vector<double> from_zero = doubles(random_(longs));
  EXPECT_GE(least(from_zero), 0);
  EXPECT_GT(most(from_zero), 9e18);
  Tensor bytes = emptyOn(kFirst, {kMany}, ScalarType::Byte);
  EXPECT_EQ(most(doubles(random_(bytes))), 255);
  Tensor bools = emptyOn(kFirst, {kMany}, ScalarType::Bool);
  EXPECT_NEAR(momentsOf(doubles(random_(bools))).mean, 0.5, 0.01);
  Tensor halves = emptyOn(kFirst, {kMany}, ScalarType::Half);
  EXPECT_EQ(most(doubles(random_(halves))), 2048);
}

TEST(CudaRandom, OnesHaveTheirProbability) {
  manualSeed(1);
  for (const ScalarType type : {ScalarType::Bool, ScalarType::Byte, ScalarType::Long, ScalarType::Half,
                                ScalarType::Float, ScalarType::ComplexFloat}) {
    for (const double p : {0.0, 0.3, 1.0}) {
      Tensor x = emptyOn(kFirst, {kMany}, type);
      EXPECT_NEAR(momentsOf(doubles(real(onHost(bernoulli_(x, p))))).mean, p, p == 0.3 ? 0.01 : 1e-9)
          << dtypeName(type);
    }
  }
  for (const ScalarType type : kFloats) {
    // A probability for each column.
    const Tensor p = onCuda(to(floats({0, 0.25F, 1}), type));
    Tensor x = emptyOn(kFirst, {kMany, 3}, ScalarType::Int);
    const Tensor means = mean(to(bernoulli_(x, p), ScalarType::Double), std::vector<int64_t>{0});
    EXPECT_EQ(doubles(means)[0], 0) << dtypeName(type);
    EXPECT_NEAR(doubles(means)[1], 0.25, 0.01) << dtypeName(type);
    EXPECT_EQ(doubles(means)[2], 1) << dtypeName(type);
  }
}

TEST(CudaRandom, TakesProbabilitiesFromTheTensorItself) {
  manualSeed(1);
  Tensor x = onCuda(floats({0, 1, 1, 0, 1}));
  EXPECT_EQ(doubles(bernoulli_(x, x)), (std::vector<double>{0, 1, 1, 0, 1}));
  Tensor y = emptyOn(kFirst, {4});
  EXPECT_EQ(doubles(bernoulli_(y, ones({}))), std::vector<double>(4, 1));  // a CPU scalar tensor
  const Tensor dropped = dropout(ones({kMany}, std::nullopt, std::nullopt, kFirst), 0.25, true);
  EXPECT_NEAR(momentsOf(doubles(dropped)).mean, 1, 0.01);
  EXPECT_NEAR(most(doubles(dropped)), 4.0 / 3, 1e-6);
}

TEST(CudaRandom, ReportsWhatIsNoProbability) {
  Tensor x = emptyOn(kFirst, {3});
  bernoulli_(x, onCuda(floats({0.5F, 2, 0.5F})));
  EXPECT_NE(errorOf([&] { onHost(x); }).find("all elements of input should be between 0 and 1, but one is not"),
            std::string::npos);
  EXPECT_EQ(errorOf([&] { bernoulli_(x, 1.5); }), "bernoulli_ expects p to be in [0, 1], but got p=1.5");
}

TEST(CudaRandom, StridesDoNotChangeWhatAnElementGets) {
  const std::vector<std::function<Tensor&(Tensor&)>> fills = {
      [](Tensor& x) -> Tensor& { return uniform_(x); },
      [](Tensor& x) -> Tensor& { return normal_(x); },
      [](Tensor& x) -> Tensor& { return exponential_(x); },
      [](Tensor& x) -> Tensor& { return random_(x, 0, 100); },
      [](Tensor& x) -> Tensor& { return bernoulli_(x); },
      [](Tensor& x) -> Tensor& {
        return bernoulli_(x, full({1, 5}, 0.5, std::nullopt, std::nullopt, kFirst));
      },
  };
  for (size_t i = 0; i < fills.size(); ++i) {
    manualSeed(2);
    Tensor contiguous_one = emptyOn(kFirst, {7, 5});
    const std::vector<double> expected = doubles(fills[i](contiguous_one));
    manualSeed(2);
    Tensor turned = t(zeros({5, 7}, std::nullopt, std::nullopt, kFirst));
    EXPECT_EQ(doubles(fills[i](turned)), expected) << i;
    manualSeed(2);
    const Tensor around = zeros({7, 10}, std::nullopt, std::nullopt, kFirst);
    Tensor apart = slice(around, 1, 0, 10, 2);
    EXPECT_EQ(doubles(fills[i](apart)), expected) << i;
    EXPECT_EQ(most(doubles(slice(around, 1, 1, 10, 2))), 0) << i;  // elements in between are unchanged
    manualSeed(2);
    Tensor shifted = view(slice(emptyOn(kFirst, {36}), 0, 1), {7, 5});  // not aligned to a pack
    EXPECT_EQ(doubles(fills[i](shifted)), expected) << i;
  }
}

TEST(CudaRandom, DrawsNothingForNoElements) {
  manualSeed(2);
  const GeneratorState before = defaultGenerator(kFirst).unsafeGetGeneratorImpl()->state();
  for (const ScalarType type : kFloats) {
    Tensor x = emptyOn(kFirst, {0, 3}, type);
    uniform_(x);
    normal_(x);
    exponential_(x);
    random_(x);
    bernoulli_(x);
  }
  EXPECT_EQ(multinomial(emptyOn(kFirst, {0, 3}), 2, true).numel(), 0);
  EXPECT_EQ(defaultGenerator(kFirst).unsafeGetGeneratorImpl()->state(), before);
}

// Returns the share of draws of each category.
std::vector<double> shares(const Tensor& samples, size_t categories) {
  std::vector<double> counts(categories, 0);
  const std::vector<int64_t> drawn = elements<int64_t>(onHost(samples));
  for (const int64_t category : drawn)
    counts.at(static_cast<size_t>(category)) += 1.0 / static_cast<double>(drawn.size());
  return counts;
}

TEST(CudaRandom, CategoriesComeByTheirWeights) {
  manualSeed(1);
  for (const ScalarType type : kFloats) {
    const Tensor weights = onCuda(to(floats({0, 1, 2, 0, 5, 0}), type));
    const std::vector<double> repeated = shares(multinomial(weights, kMany, true), 6);
    const Tensor rows = expand(weights, {kMany, 6});
    const std::vector<double> single = shares(multinomial(rows, 1), 6);
    const double expected[] = {0, 0.125, 0.25, 0, 0.625, 0};
    for (size_t i = 0; i < 6; ++i) {
      EXPECT_NEAR(repeated[i], expected[i], expected[i] == 0 ? 0 : 0.01) << dtypeName(type) << i;
      EXPECT_NEAR(single[i], expected[i], expected[i] == 0 ? 0 : 0.01) << dtypeName(type) << i;
    }
  }
}

TEST(CudaRandom, ManyCategoriesComeByTheirWeights) {
  manualSeed(1);
  // More categories than one thread handles. Those in the second half weigh three times as much, and every third one
  // weighs nothing.
  constexpr int64_t kCategories = 5000;
  const Tensor places = arange(kCategories);
  const Tensor weights = mul(add(mul(to(ge(places, kCategories / 2), ScalarType::Float), 2), 1),
                             to(ne(remainder(places, 3), 0), ScalarType::Float));
  for (const int64_t samples : {kMany, int64_t{1}}) {
    const Tensor rows = onCuda(samples == 1 ? contiguous(expand(weights, {2000, kCategories})) : weights);
    const std::vector<int64_t> drawn = elements<int64_t>(onHost(multinomial(rows, samples, true)));
    double upper = 0;
    std::set<int64_t> distinct;
    for (const int64_t category : drawn) {
      ASSERT_NE(category % 3, 0);
      if (category >= kCategories / 2) upper += 1.0 / static_cast<double>(drawn.size());
      distinct.insert(category);
    }
    EXPECT_NEAR(upper, 0.75, 0.04);
    EXPECT_GT(distinct.size(), 1000);
  }
}

TEST(CudaRandom, ReportsWeightsThatAreNone) {
  const Tensor negative = multinomial(onCuda(floats({1, -1, 1})), 2, true);
  EXPECT_NE(errorOf([&] { onHost(negative); })
                .find("invalid multinomial distribution: the probability of category 1 is negative, infinite or not a "
                      "number"),
            std::string::npos);
  for (const int64_t samples : {1, 2}) {
    const Tensor nothing = multinomial(onCuda(floats({1, 1, 0, 0}, {2, 2})), samples, true);
    EXPECT_NE(errorOf([&] {
                onHost(nothing);
              }).find("invalid multinomial distribution (sum of probabilities <= 0): it is that of row 1"),
              std::string::npos);
  }
}

TEST(CudaRandomOrder, PermutationsHoldEachNumberOnce) {
  for (const ScalarType type : {ScalarType::Short, ScalarType::Long, ScalarType::Double}) {
    manualSeed(1);
    const Tensor first = randperm(1000, type, std::nullopt, kFirst);
    EXPECT_EQ(first.device(), kFirst);
    EXPECT_EQ(first.scalar_type(), type);
    const std::vector<double> numbers = doubles(first);
    EXPECT_NE(doubles(randperm(1000, type, std::nullopt, kFirst)), numbers) << dtypeName(type);
    manualSeed(1);
    EXPECT_EQ(doubles(randperm(1000, type, std::nullopt, kFirst)), numbers) << dtypeName(type);
    std::vector<double> sorted = numbers;
    std::ranges::sort(sorted);
    EXPECT_NE(sorted, numbers) << dtypeName(type);
    EXPECT_EQ(sorted, doubles(arange(1000))) << dtypeName(type);
  }
  EXPECT_EQ(randperm(0, ScalarType::Long, std::nullopt, kFirst).numel(), 0);
  EXPECT_EQ(errorOf([] { randperm(3, makeCpuGenerator(1), ScalarType::Long, std::nullopt, kFirst); }),
            "Expected a 'cuda:0' device type for generator but found 'cpu'");
}

// Counts all six orders of three numbers.
TEST(CudaRandomOrder, PermutationsAreAsLikelyAsEachOther) {
  manualSeed(1);
  std::map<std::vector<double>, int> counts;
  for (int i = 0; i < 1200; ++i) ++counts[doubles(randperm(3, ScalarType::Long, std::nullopt, kFirst))];
  EXPECT_EQ(counts.size(), 6);
  for (const auto& [order, count] : counts) EXPECT_NEAR(count, 200, 60) << fmt::format("{}", fmt::join(order, " "));
}

TEST(CudaRandomOrder, SamplesWithoutReplacementDiffer) {
  manualSeed(1);
  const Tensor weights = onCuda(contiguous(expand(floats({0, 1, 2, 5}), {20000, 4})));
  const Tensor chosen = onHost(multinomial(weights, 3));
  EXPECT_EQ(sizesOf(chosen), (std::vector<int64_t>{20000, 3}));
  const std::vector<int64_t> drawn = elements<int64_t>(chosen);
  for (size_t i = 0; i < drawn.size(); i += 3) {
    EXPECT_EQ(std::set<int64_t>(drawn.begin() + static_cast<std::ptrdiff_t>(i),
                                drawn.begin() + static_cast<std::ptrdiff_t>(i + 3)),
              (std::set<int64_t>{1, 2, 3}));
  }
  const std::vector<double> first = shares(select(chosen, 1, 0), 4);
  EXPECT_NEAR(first[1], 0.125, 0.02);
  EXPECT_NEAR(first[2], 0.25, 0.02);
  EXPECT_NEAR(first[3], 0.625, 0.02);
  EXPECT_EQ(sizesOf(multinomial(onCuda(ones({50})), 50)), std::vector<int64_t>{50});
}

}  // namespace
}  // namespace boxcar
