#include <boxcar/ivalue/cpu_generator.h>
#include <gtest/gtest.h>

#include "tests/backends/tensor_helpers.h"

// The expected numbers are those of PyTorch for the same seeds.

namespace boxcar {
namespace {

TEST(Random, UniformNumbersOfASeed) {
  manualSeed(0);
  EXPECT_EQ(elements<float>(rand({3})),
            (std::vector<float>{0.49625658988952637f, 0.7682217955589294f, 0.08847743272781372f}));
  manualSeed(42);
  EXPECT_EQ(elements<float>(rand({2})), (std::vector<float>{0.8822692632675171f, 0.9150039553642273f}));
  manualSeed(0);
  EXPECT_EQ(toString(rand({3}, ScalarType::BFloat16)), "tensor([0.6719, 0.1836, 0.4570], dtype=torch.bfloat16)");
  Tensor x = zeros({3});
  manualSeed(0);
  uniform_(x, -2.5, 7.1);
  EXPECT_EQ(elements<float>(x), (std::vector<float>{2.2640633583068848f, 4.874929428100586f, -1.6506166458129883f}));
}

TEST(Random, NormalNumbersOfASeed) {
  manualSeed(0);
  EXPECT_EQ(toString(randn({3})), "tensor([ 1.5410, -0.2934, -2.1788])");
  manualSeed(0);
  EXPECT_EQ(elements<double>(randn({3}, ScalarType::Double)),
            (std::vector<double>{1.5409961082440433, -0.2934289057609464, -2.1787893820745574}));
  Tensor x = zeros({3});
  manualSeed(0);
  normal_(x, 1.5, 2);
  EXPECT_EQ(elements<float>(x), (std::vector<float>{4.581992149353027f, 0.913142204284668f, -2.857578754425049f}));
}

TEST(Random, SixteenAndMoreNormalNumbersComeInBlocks) {
  manualSeed(0);
  const std::vector<float> expected = {
      -1.1258398294448853f, -1.152360200881958f,  -0.2505785822868347f, -0.4338788092136383f, 0.5988394618034363f,
      -1.5550950765609741f, -0.3413603901863098f, 1.85300612449646f,    0.46809640526771545f, -0.1577124446630478f,
      1.4436601400375366f,  0.26604941487312317f, 1.3893661499023438f,  1.586334228515625f,   0.946298360824585f,
      -0.843676745891571f,  0.9318265914916992f,  1.2590092420578003f,  2.0049805641174316f,  0.05373690277338028f};
  const std::vector<float> found = elements<float>(randn({20}));
  ASSERT_EQ(found.size(), expected.size());
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    EXPECT_EQ(found, expected);
  }
#endif
  for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-6) << i;
}

TEST(Random, AGeneratorHasItsOwnSequence) {
  const Generator generator = makeCpuGenerator(0);
  manualSeed(1);
  const Tensor first = rand({4}, generator);
  manualSeed(0);
  EXPECT_TRUE(equal(first, rand({4})));
  EXPECT_FALSE(equal(first, rand({4}, generator)));
  generator.set_current_seed(0);
  EXPECT_TRUE(equal(first, rand({4}, generator)));
}

TEST(Random, MomentsAreRight) {
  manualSeed(7);
  const Tensor x = randn({100000}, ScalarType::Double);
  EXPECT_NEAR(item(mean(x)).toDouble(), 0, 0.01);
  EXPECT_NEAR(item(mean(mul(x, x))).toDouble(), 1, 0.02);
  const Tensor u = rand({100000});
  EXPECT_NEAR(item(mean(u)).toDouble(), 0.5, 0.01);
  EXPECT_GE(item(min(u)).toDouble(), 0);
  EXPECT_LT(item(max(u)).toDouble(), 1);
}

TEST(Random, RefusesWrongArguments) {
  Tensor x = zeros({2});
  EXPECT_EQ(errorOf([&] { uniform_(x, 2, 1); }),
            "uniform_ expects to return a [from, to) range, but found from=2 > to=1");
  EXPECT_EQ(errorOf([&] { normal_(x, 0, -1); }), "normal expects std >= 0.0, but found std -1");
  EXPECT_EQ(errorOf([] { rand({2}, ScalarType::Long); }),
            "uniform_ does not take dtype int64; it takes float16, bfloat16, float32 or float64");
}

}  // namespace
}  // namespace boxcar
