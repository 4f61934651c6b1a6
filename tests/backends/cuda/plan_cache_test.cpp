#include <boxcar/backends/cuda/plan_cache.h>
#include <gtest/gtest.h>

namespace boxcar::cuda {
namespace {

constexpr auto kAny = [](int) { return true; };

void add(PlanCache<int>& cache, int64_t key, int plan) { cache.add({key}, std::make_unique<int>(plan)); }

TEST(PlanCache, FindsPlansByTheirNumbers) {
  PlanCache<int> cache(2);
  EXPECT_EQ(cache.find({1, 2}), nullptr);
  EXPECT_EQ(cache.add({1, 2}, std::make_unique<int>(7)), 7);
  EXPECT_EQ(*cache.find({1, 2}), 7);
  EXPECT_EQ(cache.find({2, 1}), nullptr);
}

TEST(PlanCache, IsFullAtItsBound) {
  PlanCache<int> cache(2);
  add(cache, 1, 10);
  EXPECT_FALSE(cache.isFull());
  add(cache, 2, 20);
  EXPECT_TRUE(cache.isFull());
  EXPECT_NE(cache.takeOldest(kAny), nullptr);
  EXPECT_FALSE(cache.isFull());
  EXPECT_EQ(cache.size(), 1u);
}

TEST(PlanCache, GivesUpWhatWasUnusedLongest) {
  PlanCache<int> cache(3);
  for (int i = 1; i <= 3; ++i) add(cache, i, 10 * i);
  cache.find({1});
  EXPECT_EQ(*cache.takeOldest(kAny), 20);
  EXPECT_EQ(cache.find({2}), nullptr);
  EXPECT_EQ(*cache.find({1}), 10);
  EXPECT_EQ(*cache.find({3}), 30);
}

TEST(PlanCache, KeepsWhatMayNotGo) {
  PlanCache<int> cache(2);
  add(cache, 1, 10);
  add(cache, 2, 20);
  const auto is_large = [](int plan) { return plan > 10; };
  EXPECT_EQ(*cache.takeOldest(is_large), 20);
  EXPECT_EQ(cache.takeOldest(is_large), nullptr);
  EXPECT_EQ(*cache.find({1}), 10);
}

}  // namespace
}  // namespace boxcar::cuda
