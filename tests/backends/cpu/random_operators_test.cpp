#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/ivalue/cpu_generator.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <functional>
#include <limits>

#include "tests/backends/tensor_helpers.h"

// The expected numbers are those of PyTorch for the same seeds.

namespace boxcar {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<int64_t>;

TEST(RandomOperators, IntegersOfASeed) {
  manualSeed(0);
  EXPECT_EQ(elements<int64_t>(randint(10, {8})), (Ints{4, 9, 3, 0, 3, 9, 7, 3}));
  EXPECT_EQ(elements<int64_t>(randint(-1000000000000, 1000000000000, {2})), (Ints{614634499795, 441472427762}));
  Tensor x = zeros({3});
  manualSeed(0);
  EXPECT_EQ(elements<float>(random_(x)), (Floats{8325664, 12888472, 1484222}));
  Tensor bytes = zeros({3}, ScalarType::Byte);
  EXPECT_EQ(elements<uint8_t>(random_(bytes)), (std::vector<uint8_t>{192, 67, 251}));
  Tensor longs = zeros({2}, ScalarType::Long);
  EXPECT_EQ(elements<int64_t>(random_(longs)), (Ints{827948490035658087, 7815051614634499795}));
}

TEST(RandomOperators, FunctionalFormsDrawTheNumbersOfTheFormsInPlace) {
  const Tensor like = full({2, 3}, 7.0);
  const Tensor chances = full({2, 3}, 0.5);
  struct Forms {
    std::function<Tensor()> functional;
    std::function<void(Tensor&)> in_place;
  };
  const std::vector<Forms> all = {
      {[&] { return uniform(like, 2, 5); }, [](Tensor& x) { uniform_(x, 2, 5); }},
      {[&] { return normal_functional(like, 2, 5); }, [](Tensor& x) { normal_(x, 2, 5); }},
      {[&] { return log_normal(like, 1, 0.5); }, [](Tensor& x) { log_normal_(x, 1, 0.5); }},
      {[&] { return cauchy(like, 1, 2); }, [](Tensor& x) { cauchy_(x, 1, 2); }},
      {[&] { return exponential(like, 3); }, [](Tensor& x) { exponential_(x, 3); }},
      {[&] { return geometric(like, 0.4); }, [](Tensor& x) { geometric_(x, 0.4); }},
      {[&] { return bernoulli(like, chances); }, [&](Tensor& x) { bernoulli_(x, chances); }},
      {[&] { return boxcar::random(like); }, [](Tensor& x) { random_(x); }},
      {[&] { return boxcar::random(like, 9); }, [](Tensor& x) { random_(x, 9); }},
      {[&] { return boxcar::random(like, -4, 4); }, [](Tensor& x) { random_(x, -4, 4); }},
  };
  for (size_t i = 0; i < all.size(); ++i) {
    SCOPED_TRACE(i);
    Tensor written = clone(like);
    manualSeed(1);
    all[i].in_place(written);
    manualSeed(1);
    EXPECT_EQ(elements<float>(all[i].functional()), elements<float>(written));
    EXPECT_EQ(elements<float>(like), Floats(6, 7));
  }
}

TEST(RandomOperators, ComplexNumbersMayHaveTheMaximumNumberOfDimensions) {
  std::vector<int64_t> sizes(64, 1);
  sizes[3] = 5;
  for (const auto& fill : {+[](Tensor&out, IntArrayRef size) -> Tensor& { return rand_out(out, size); },
                           +[](Tensor&out, IntArrayRef size) -> Tensor& { return randn_out(out, size); }}) {
    Tensor flat = zeros({0}, ScalarType::ComplexFloat);
    manualSeed(0);
    fill(flat, {5});
    Tensor out = zeros({0}, ScalarType::ComplexFloat);
    manualSeed(0);
    fill(out, sizes);
    EXPECT_EQ(sizesOf(out), sizes);
    EXPECT_EQ(elements<std::complex<float>>(out), elements<std::complex<float>>(flat));
  }
}

TEST(RandomOperators, IntegersStayInTheirRange) {
  for (const ScalarType type : {ScalarType::BFloat16, ScalarType::Half, ScalarType::Float, ScalarType::Int}) {
    Tensor x = empty({10000}, type);
    random_(x, -301, 300);
    EXPECT_GE(item(min(x)).toDouble(), -301) << dtypeName(type);
    EXPECT_LT(item(max(x)).toDouble(), 300) << dtypeName(type);
  }
  Tensor x = empty({1000}, ScalarType::Long);
  random_(x, std::numeric_limits<int64_t>::min(), std::optional<int64_t>());
  EXPECT_LT(item(min(x)).toLong(), 0);
  EXPECT_GT(item(max(x)).toLong(), 0);
}

TEST(RandomOperators, PermutationOfASeed) {
  manualSeed(0);
  EXPECT_EQ(elements<int64_t>(randperm(12)), (Ints{8, 0, 5, 9, 7, 4, 2, 10, 3, 1, 11, 6}));
  Ints numbers = elements<int64_t>(randperm(1000));
  std::ranges::sort(numbers);
  EXPECT_EQ(numbers, elements<int64_t>(arange(1000)));
  EXPECT_EQ(sizesOf(randperm(0)), Ints{0});
}

TEST(RandomOperators, OnesAndZerosOfASeed) {
  manualSeed(0);
  EXPECT_EQ(elements<float>(bernoulli(full({12}, 0.3))), (Floats{0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0}));
  Tensor x = zeros({12});
  manualSeed(0);
  EXPECT_EQ(elements<float>(bernoulli_(x, 0.3)), (Floats{0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 1}));
  manualSeed(0);
  EXPECT_EQ(elements<float>(dropout(ones({8}), 0.5, true)), (Floats{0, 0, 2, 0, 0, 0, 2, 2}));
}

TEST(RandomOperators, ExponentialAndNormalNumbersOfASeed) {
  Tensor x = zeros({3});
  manualSeed(0);
  exponential_(x, 2.0);
  const Floats expected = {0x1.c110d6p+0F, 0x1.3afa7ep-1F, 0x1.3ae710p-2F};
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_FLOAT_EQ(elements<float>(x)[i], expected[i]);
  manualSeed(0);
  EXPECT_EQ(elements<float>(normal(floats({1, 2}), floats({1, 2}))), (Floats{2.5409960746765137F, 1.413142204284668F}));
}

TEST(RandomOperators, SamplesOfASeed) {
  manualSeed(0);
  EXPECT_EQ(elements<int64_t>(multinomial(floats({0.1F, 0.2F, 0.3F, 0.4F}), 3)), (Ints{2, 1, 3}));
  const Tensor weights = floats({0.1F, 0.2F, 0.3F, 0.4F, 4, 3, 2, 1}, {2, 4});
  EXPECT_EQ(elements<int64_t>(multinomial(weights, 5, true)), (Ints{3, 3, 1, 2, 2, 0, 1, 0, 0, 1}));
}

TEST(RandomOperators, SamplesWithoutReplacementDiffer) {
  const Tensor chosen = multinomial(ones({3, 20}), 20);
  for (int64_t row = 0; row < 3; ++row) {
    Ints places = elements<int64_t>(select(chosen, 0, row));
    std::ranges::sort(places);
    EXPECT_EQ(places, elements<int64_t>(arange(20)));
  }
  // An element of weight zero is chosen last.
  EXPECT_EQ(elements<int64_t>(multinomial(floats({0, 1, 0}), 1)), Ints{1});
}

TEST(RandomOperators, NumbersDoNotDependOnTheNumberOfThreads) {
  const int before = cpu::threadCount();
  const std::vector<std::function<Tensor()>> draws = {
      [] { return rand({100000}); },           [] { return randn({300, 400}); },
      [] { return randint(100, {100000}); },   [] { return randperm(100000); },
      [] { return bernoulli(rand({50000})); }, [] { return dropout(ones({70000}), 0.3, true); },
  };
  for (size_t i = 0; i < draws.size(); ++i) {
    cpu::setThreadCount(1);
    manualSeed(3);
    const Tensor alone = draws[i]();
    cpu::setThreadCount(2);
    manualSeed(3);
    EXPECT_TRUE(equal(alone, draws[i]())) << i;
  }
  cpu::setThreadCount(before);
}

TEST(RandomOperators, AGivenGeneratorIsDrawnFrom) {
  const Generator generator = makeCpuGenerator(5);
  manualSeed(1);
  const Tensor first = randint(100, {10}, generator);
  const Tensor shuffled = randperm(10, generator);
  Tensor x = zeros({10});
  bernoulli_(x, 0.5, generator);
  const Tensor sampled = multinomial(ones({10}), 3, false, generator);
  manualSeed(5);
  EXPECT_TRUE(equal(first, randint(100, {10})));
  EXPECT_TRUE(equal(shuffled, randperm(10)));
  Tensor y = zeros({10});
  bernoulli_(y, 0.5);
  EXPECT_TRUE(equal(x, y));
  EXPECT_TRUE(equal(sampled, multinomial(ones({10}), 3)));
}

TEST(RandomOperators, MetaTensorsDrawNothing) {
  const Device meta(DeviceType::Meta);
  manualSeed(0);
  const Tensor weights = ones({4, 5}, std::nullopt, std::nullopt, meta);
  EXPECT_EQ(shapeText(multinomial(weights, 3)), "int64[4, 3]");
  EXPECT_EQ(shapeText(randint(10, {2, 3}, ScalarType::Long, std::nullopt, meta)), "int64[2, 3]");
  EXPECT_EQ(shapeText(randperm(7, ScalarType::Int, std::nullopt, meta)), "int32[7]");
  EXPECT_EQ(shapeText(dropout(weights, 0.5, true)), "float32[4, 5]");
  EXPECT_EQ(elements<int64_t>(randint(10, {3})), (Ints{4, 9, 3}));
}

TEST(RandomOperators, WrongArgumentsAreRefusedBeforeAnythingIsWritten) {
  Tensor x = ones({3});
  EXPECT_EQ(errorOf([&] { random_(x, 3, 3); }), "random_ expects 'from' to be less than 'to', but got from=3 >= to=3");
  EXPECT_EQ(errorOf([&] { bernoulli_(x, 1.5); }), "bernoulli_ expects p to be in [0, 1], but got p=1.5");
  EXPECT_EQ(errorOf([&] {
              bernoulli_(x, floats({0.5F, 0.5F, 2}));
            }),
            "bernoulli_ expects p to be in [0, 1], but got p=2");
  EXPECT_EQ(errorOf([&] { exponential_(x, 0); }), "exponential_ expects lambda > 0.0, but found lambda=0");
  EXPECT_EQ(errorOf([&] { randint_out(x, 10, 3, {5}); }),
            "random_ expects 'from' to be less than 'to', but got from=10 >= to=3");
  Tensor longs = ones({3}, ScalarType::Long);
  EXPECT_NE(errorOf([&] { rand_out(longs, {5}); }), "no error");
  EXPECT_EQ(sizesOf(longs), Ints{3});
  EXPECT_EQ(elements<float>(x), (Floats{1, 1, 1}));
  EXPECT_EQ(errorOf([] { randperm(-1); }), "n must be non-negative, got -1");
  EXPECT_EQ(errorOf([] { randperm(300, ScalarType::Byte); }),
            "n is too large for result tensor type: uint8 holds no more than 0 to 255, n is 300");
  EXPECT_EQ(
      errorOf([] { multinomial(ones({3}), 4); }),
      "cannot sample n_sample > prob_dist.size(-1) samples without replacement: n_sample is 4, prob_dist.size(-1) "
      "3");
  EXPECT_EQ(errorOf([] {
              multinomial(floats({1, -1}), 1);
            }),
            "invalid multinomial distribution: probability -1 of category 1 is negative, infinite or not a number");
  EXPECT_EQ(errorOf([] { dropout(ones({2}), 1.5, true); }),
            "dropout probability has to be between 0 and 1, but got 1.5");
}

}  // namespace
}  // namespace boxcar
