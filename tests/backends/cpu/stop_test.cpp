// Long-running operators are asked to stop. Their tensors have 2^62 elements that share one in memory.

#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/backends/cpu/thread_team.h>
#include <boxcar/ops.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <mutex>
#include <numeric>
#include <set>
#include <thread>
#include <vector>

#include "tests/backends/tensor_helpers.h"
#include "tests/stop_requests.h"

namespace boxcar {
namespace {

constexpr int64_t kMany = int64_t{1} << 62;

Tensor oneAsMany(std::vector<int64_t> sizes, std::vector<int64_t> as, ScalarType type = ScalarType::Float) {
  return boxcar::expand(boxcar::ones(sizes, type), as);
}
Tensor many(ScalarType type = ScalarType::Float) { return oneAsMany({1}, {kMany}, type); }

class StopsWork : public testing::TestWithParam<int> {
 protected:
  StopsWork() { cpu::setThreadCount(GetParam()); }
  ~StopsWork() override { cpu::setThreadCount(before_); }

  void expectStops(const char* what, const std::function<void()>& work, int after = 3) {
    const StopAfter request(after);
    const StopGuard guard(request);
    EXPECT_THROW(work(), Stopped) << what;
  }

 private:
  int before_ = cpu::threadCount();
};

TEST(Products, OfHalvesThatAreMadeOfPartsAreTheSumOfThem) {
  const std::vector<int64_t> more_than_a_part{(int64_t{1} << 24) + (1 << 15)};
  const Tensor ones = oneAsMany({1}, more_than_a_part, ScalarType::Half);
  const Tensor parts = boxcar::expand(boxcar::full({1}, 1.0 / 4096, ScalarType::Half), more_than_a_part);
  EXPECT_EQ(static_cast<float>(*boxcar::dot(ones, parts).data_ptr<Half>()), 4104);
}

TEST_P(StopsWork, OfReductions) {
  expectStops("sum", [] { boxcar::sum(many()); });
  expectStops("sum of converted", [] { boxcar::sum(many(ScalarType::Half)); });
  expectStops("any", [] { boxcar::any(many(ScalarType::Bool)); });
  expectStops("std", [] { boxcar::std(many()); });
  expectStops("columns", [] { boxcar::sum(oneAsMany({2}, {kMany / 2, 2}), std::vector<int64_t>{0}); });
  expectStops("rows", [] { boxcar::sum(oneAsMany({2, 1}, {2, kMany / 2}), std::vector<int64_t>{1}); });
  EXPECT_EQ(*static_cast<const float*>(boxcar::sum(boxcar::ones({100'000})).data_ptr()), 100'000);
}

TEST_P(StopsWork, OfProducts) {
  expectStops("dot", [] { boxcar::dot(many(), many()); });
  expectStops("dot of integers", [] { boxcar::dot(many(ScalarType::Int), many(ScalarType::Int)); });
  expectStops("dot of halves", [] { boxcar::dot(many(ScalarType::BFloat16), many(ScalarType::BFloat16)); });
  // 10^13 multiplications, though no sum is as long as that of a dot product in parts.
  const int64_t length = int64_t{1} << 22;
  expectStops(
      "matmul",
      [&] {
        boxcar::matmul(oneAsMany({1}, {1600, length}), oneAsMany({1}, {length, 1600}));
      },
      0);
}

TEST_P(StopsWork, OfSelections) {
  expectStops("topk", [] { boxcar::topk(many(), 1); });
  expectStops("diff", [] { boxcar::diff(boxcar::empty({kMany / 8, 1}, {}, {}, Device("meta")), kMany / 8, 0); });
}

TEST_P(StopsWork, ThatReturnsManyViews) {
  const Tensor x = oneAsMany({1}, {100'000});
  const std::vector<int64_t> ones(100'000, 1);
  std::vector<int64_t> indices(100'000);
  std::iota(indices.begin(), indices.end(), 0);
  expectStops(
      "unbind", [&] { boxcar::unbind(x); }, 1);
  expectStops(
      "split", [&] { boxcar::split(x, 1); }, 1);
  expectStops(
      "chunk", [&] { boxcar::chunk(x, 100'000); }, 1);
  expectStops(
      "split_with_sizes", [&] { boxcar::split_with_sizes(x, ones); }, 1);
  expectStops(
      "tensor_split into sections", [&] { boxcar::tensor_split(x, 100'000); }, 1);
  expectStops(
      "tensor_split at indices", [&] { boxcar::tensor_split(x, indices); }, 1);
}

TEST_P(StopsWork, ThatWritesAtIndices) {
  Tensor target = boxcar::zeros({3});
  const Tensor index = many(ScalarType::Long);
  expectStops("index_add_", [&] { boxcar::index_add_(target, 0, index, many()); });
  expectStops("scatter_add_", [&] { boxcar::scatter_add_(target, 0, index, many()); });
}

TEST_P(StopsWork, OfElementsInMemory) {
  Tensor x = boxcar::zeros({6, 8'000'000});
  Tensor turned = boxcar::t(x);
  expectStops(
      "pointwise", [&] { boxcar::exp_(x); }, 0);
  expectStops(
      "strided", [&] { boxcar::exp(turned); }, 0);
  expectStops(
      "draws", [&] { boxcar::uniform_(turned); }, 0);
  expectStops(
      "draws of normal numbers", [&] { boxcar::normal_(x); }, 0);
  expectStops(
      "turned", [&] { boxcar::contiguous(turned); }, 0);
  expectStops(
      "sort", [&] { boxcar::sort(boxcar::reshape(x, std::vector<int64_t>{48'000'000})); }, 0);
}

INSTANTIATE_TEST_SUITE_P(Threads, StopsWork, testing::Values(1, 3),
                         [](const auto& test) { return "Of" + std::to_string(test.param); });

TEST(ParallelFor, AsksInEachThreadThatHelps) {
  class Asked final : public StopRequest {
   public:
    void checkStop() const override {
      const std::lock_guard lock(mutex_);
      threads_.insert(std::this_thread::get_id());
    }
    size_t threads() const { return threads_.size(); }

   private:
    mutable std::mutex mutex_;
    mutable std::set<std::thread::id> threads_;
  };
  if (!cpu::kHasThreadTeam) GTEST_SKIP() << "this build has one thread";
  const int before = cpu::threadCount();
  cpu::setThreadCount(2);
  const Asked asked;
  {
    const StopGuard guard(asked);
    cpu::parallelFor(0, 4 * kStopInterval, cpu::kParallelGrain, [](int64_t, int64_t) {});
  }
  cpu::setThreadCount(before);
  EXPECT_EQ(asked.threads(), 2U);
}

TEST(ParallelFor, CallsForEachIndexOnceWhateverAnIndexTakes) {
  for (const int64_t grain : {int64_t{1}, int64_t{7}, cpu::kParallelGrain, INT64_MAX}) {
    constexpr int64_t kIndices = 3 * kStopInterval + 5;
    std::atomic<int64_t> count = 0;
    std::atomic<int64_t> sum = 0;
    cpu::parallelFor(0, kIndices, grain, [&](int64_t begin, int64_t end) {
      count += end - begin;
      sum += (begin + end - 1) * (end - begin) / 2;
    });
    EXPECT_EQ(count, kIndices) << grain;
    EXPECT_EQ(sum, kIndices * (kIndices - 1) / 2) << grain;
  }
}

TEST(ParallelFor, LooksBetweenIndicesThatTakeLong) {
  const StopAfter request(2);
  const StopGuard guard(request);
  std::atomic<int> calls = 0;
  const auto work = [&](int64_t begin, int64_t end) {
    calls += static_cast<int>(end - begin);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  };
  EXPECT_THROW(cpu::parallelFor(0, 1000, 1, work), Stopped);
  EXPECT_LT(calls, 20 * cpu::threadCount());
}

}  // namespace
}  // namespace boxcar
