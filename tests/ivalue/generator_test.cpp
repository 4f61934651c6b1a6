#include <boxcar/ivalue/cpu_generator.h>
#include <gtest/gtest.h>

#include "tests/test_support.h"

namespace boxcar {
namespace {

// The first numbers after torch.manual_seed(0).
constexpr uint32_t kFirstOfSeed0[] = {2357136044, 2546248239, 3071714933, 3626093760, 2588848963};

TEST(CpuGenerator, DrawsPyTorchsNumbers) {
  const Generator generator = makeCpuGenerator(0);
  for (const uint32_t expected : kFirstOfSeed0) EXPECT_EQ(generator.get<CpuGeneratorImpl>()->random(), expected);
}

TEST(CpuGenerator, Random64TakesTheHighHalfFirst) {
  const Generator generator = makeCpuGenerator(0);
  EXPECT_EQ(generator.get<CpuGeneratorImpl>()->random64(), uint64_t{2357136044} << 32 | 2546248239);
}

TEST(CpuGenerator, SeedingStartsTheSequenceAgain) {
  const Generator generator = makeCpuGenerator(7);
  auto* impl = generator.get<CpuGeneratorImpl>();
  const uint32_t first = impl->random();
  impl->next_normal() = 0.5;
  generator.set_current_seed(7);
  EXPECT_FALSE(impl->next_normal().has_value());
  EXPECT_EQ(impl->random(), first);
  EXPECT_EQ(generator.current_seed(), 7u);
}

TEST(CpuGenerator, OnlyTheLowHalfOfASeedCounts) {
  const Generator wide = makeCpuGenerator(uint64_t{5} << 32);
  EXPECT_EQ(wide.get<CpuGeneratorImpl>()->random(), kFirstOfSeed0[0]);
  EXPECT_EQ(wide.current_seed(), uint64_t{5} << 32);
}

TEST(CpuGenerator, GoesBackToAPlaceOfItsSequence) {
  const Generator generator = makeCpuGenerator(7);
  auto* impl = generator.get<CpuGeneratorImpl>();
  impl->random();
  impl->random64();
  impl->next_normal() = 0.25;
  const GeneratorState state = impl->state();
  EXPECT_EQ(state, (GeneratorState{.seed = 7, .drawn = 3, .next_normal = 0.25}));
  const uint32_t following = impl->random();
  impl->set_current_seed(1);
  EXPECT_EQ(impl->state(), (GeneratorState{.seed = 1, .drawn = 0, .next_normal = std::nullopt}));
  impl->set_state(state);
  EXPECT_EQ(impl->next_normal(), 0.25);
  EXPECT_EQ(impl->random(), following);
}

TEST(CpuGenerator, GoesFarAsIfItHadDrawnEachNumber) {
  constexpr uint32_t kSeed = 77;
  for (const uint64_t drawn : {uint64_t{1}, uint64_t{4'194'303}, uint64_t{4'194'304}, uint64_t{7'777'777}}) {
    std::mt19937 expected(kSeed);
    expected.discard(drawn);
    CpuGeneratorImpl generator;
    generator.set_state({.seed = kSeed, .drawn = drawn, .next_normal = std::nullopt});
    EXPECT_EQ(generator.state().drawn, drawn);
    for (int i = 0; i < 2000; ++i) ASSERT_EQ(generator.random(), expected()) << drawn << ", " << i;
  }
}

TEST(CpuGenerator, GoesAsFarAsThereAreNumbers) {
  constexpr uint64_t kFar = uint64_t{1} << 62;
  CpuGeneratorImpl walking;
  walking.set_state({.seed = 3, .drawn = kFar, .next_normal = std::nullopt});
  for (int i = 0; i < 1000; ++i) walking.random();
  CpuGeneratorImpl jumping;
  jumping.set_state({.seed = 3, .drawn = kFar + 1000, .next_normal = std::nullopt});
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(walking.random(), jumping.random()) << i;
  EXPECT_EQ(walking.state(), jumping.state());
}

TEST(Generator, OfAUserSaysThatItCannotTellItsPlace) {
  class Own final : public GeneratorImpl {
   public:
    Own() : GeneratorImpl(Device(DeviceType::CPU), {}) {}
    void set_current_seed(uint64_t) override {}
    uint64_t current_seed() const override { return 0; }
  };
  EXPECT_EQ(errorOf([] { makeIntrusive<Own>()->state(); }),
            "the generator of device 'cpu' cannot tell its position: its class does not override state()");
  EXPECT_EQ(errorOf([] { makeIntrusive<Own>()->set_state({}); }),
            "the generator of device 'cpu' cannot be set to a position: its class does not override set_state()");
}

TEST(CpuGenerator, HasTheKeysAndTheDeviceOfTheCpu) {
  const Generator generator = makeCpuGenerator();
  EXPECT_EQ(generator.device(), Device(DeviceType::CPU));
  EXPECT_TRUE(generator.key_set().has(DispatchKey::CPU));
  EXPECT_EQ(generator.current_seed(), 67280421310721u);
}

TEST(CpuGenerator, ManualSeedSeedsTheDefaultOne) {
  const uint64_t before = defaultCpuGenerator().current_seed();
  manualSeed(0);
  EXPECT_EQ(defaultCpuGenerator().get<CpuGeneratorImpl>()->random(), kFirstOfSeed0[0]);
  manualSeed(before);
}

TEST(Generator, DevicesHaveTheirOwn) {
  EXPECT_EQ(defaultGenerator(DeviceType::CPU), defaultCpuGenerator());
  const Generator generator = makeGenerator(DeviceType::CPU, 4);
  EXPECT_EQ(generator.current_seed(), 4u);
  EXPECT_FALSE(generator == defaultCpuGenerator());
  EXPECT_EQ(errorOf([] { static_cast<void>(defaultGenerator(DeviceType::Meta)); }),
            "device 'meta' has no generators of random numbers: no backend provides one");
}

TEST(Generator, CopiesAreOneGenerator) {
  const Generator first = makeCpuGenerator(0);
  const Generator second = first;
  EXPECT_EQ(first, second);
  first.get<CpuGeneratorImpl>()->random();
  EXPECT_EQ(second.get<CpuGeneratorImpl>()->random(), kFirstOfSeed0[1]);
  EXPECT_FALSE(first == makeCpuGenerator(0));
}

TEST(Generator, TheUndefinedOneHasNoKeys) {
  EXPECT_FALSE(Generator().defined());
  EXPECT_TRUE(Generator().key_set().empty());
}

TEST(Generator, PrintsDeviceAndSeed) {
  EXPECT_EQ(toString(makeCpuGenerator(3)), "Generator(device='cpu', seed=3)");
  EXPECT_EQ(toString(Generator()), "Generator(undefined)");
}

}  // namespace
}  // namespace boxcar
