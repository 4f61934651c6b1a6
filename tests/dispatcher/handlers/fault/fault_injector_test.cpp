#include <boxcar/dispatcher/handlers/fault/fault_injector.h>
#include <boxcar/ops.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "tests/dispatcher/dispatcher_helpers.h"
#include "tests/test_support.h"

namespace boxcar {
namespace {

// Returns whether each of [count] calls of relu fails.
std::vector<bool> failuresOf(FaultInjector& injector, int count) {
  const HandlerGuard on(injector);
  const Tensor x = ones({2});
  std::vector<bool> failures;
  for (int i = 0; i < count; ++i) failures.push_back(errorOf([&] { relu(x); }) != "no error");
  return failures;
}

// Returns the number of bits in which two tensors differ.
int differingBits(const Tensor& a, const Tensor& b) {
  int count = 0;
  const auto* bytes_a = static_cast<const uint8_t*>(a.data_ptr());
  const auto* bytes_b = static_cast<const uint8_t*>(b.data_ptr());
  for (size_t i = 0; i < a.nbytes(); ++i) count += __builtin_popcount(bytes_a[i] ^ bytes_b[i]);
  return count;
}

TEST(FaultInjector, TheNthMatchingCallFails) {
  FaultInjector injector({.pattern = "aten::relu", .n = 3});
  {
    const HandlerGuard on(injector);
    const Tensor x = ones({2});
    relu(x);
    neg(x);
    relu(x);
    EXPECT_EQ(errorOf([&] { relu(x); }),
              "aten::relu was made to fail: inject 'aten::relu' chose call 3 of those that match");
    EXPECT_EQ(errorOf([&] { relu(x); }), "no error");
  }
  EXPECT_EQ(injector.injected(), 1U);
  EXPECT_EQ(injector.finish(true),
            "inject 'aten::relu': 4 calls matched, 1 fault was injected\n"
            "  call 3: an Error in aten::relu\n");
}

TEST(FaultInjector, CallsThatKernelsMakeCount) {
  Library library = definitions("inject_test");
  library.def("twice(Tensor x) -> Tensor", [](const Tensor& x) { return relu(relu(x)); });
  FaultInjector injector({.pattern = "relu", .n = 2});
  const HandlerGuard on(injector);
  EXPECT_EQ(errorOf([&] { callOp(find("inject_test::twice"), ones({2})); }),
            "aten::relu was made to fail: inject 'relu' chose call 2 of those that match");
}

TEST(FaultInjector, SaysWhereNothingHappened) {
  FaultInjector unmatched({.pattern = "aten::mm"});
  failuresOf(unmatched, 1);
  EXPECT_EQ(unmatched.finish(false), "inject 'aten::mm': no call matched, nothing was injected\n");
  FaultInjector misspelt({.pattern = "aten::mmm"});
  failuresOf(misspelt, 1);
  EXPECT_EQ(misspelt.finish(false), "inject 'aten::mmm': no operator has such a name, nothing was injected\n");
  FaultInjector late({.pattern = "aten::relu", .n = 2});
  failuresOf(late, 1);
  EXPECT_EQ(late.finish(false), "inject 'aten::relu': 1 call matched, nothing was injected\n");
}

TEST(FaultInjector, AProbabilityChoosesTheSameCallsForTheSameSeed) {
  const auto chosen = [](int64_t seed, double probability) {
    FaultInjector injector({.pattern = "relu", .seed = seed, .probability = probability});
    return failuresOf(injector, 400);
  };
  const std::vector<bool> first = chosen(1, 0.25);
  EXPECT_EQ(chosen(1, 0.25), first);
  EXPECT_NE(chosen(2, 0.25), first);
  const auto failures = std::count(first.begin(), first.end(), true);
  EXPECT_GT(failures, 60);
  EXPECT_LT(failures, 140);
  EXPECT_EQ(chosen(1, 1.0), std::vector<bool>(400, true));
}

TEST(FaultInjector, CorruptsOneBitOfAResultByTheSeed) {
  const auto corrupted = [](int64_t seed) {
    FaultInjector injector({.pattern = "aten::add.Tensor", .corrupt = true, .seed = seed});
    const HandlerGuard on(injector);
    const Tensor x = ones({100});
    return add(x, x);
  };
  const Tensor right = full({100}, 2.0);
  const Tensor wrong = corrupted(1);
  EXPECT_EQ(differingBits(wrong, right), 1);
  EXPECT_EQ(differingBits(corrupted(1), wrong), 0);
  EXPECT_EQ(differingBits(corrupted(2), wrong), 2);
}

TEST(FaultInjector, CorruptsBoolsListsAndViewsAsTheyLie) {
  const Tensor x = arange(12);
  {
    FaultInjector injector({.pattern = "aten::eq.Scalar", .corrupt = true});
    const HandlerGuard on(injector);
    const Tensor equal = eq(x, 100);
    for (int i = 0; i < 12; ++i) EXPECT_LE(static_cast<const uint8_t*>(equal.data_ptr())[i], 1);
    EXPECT_EQ(differingBits(equal, zeros({12}, ScalarType::Bool)), 1);
  }
  {
    FaultInjector injector({.pattern = "aten::split.Tensor", .corrupt = true, .seed = 3});
    const HandlerGuard on(injector);
    const Tensor base = zeros({12}, ScalarType::Long);
    split(base, 5);
    EXPECT_EQ(differingBits(base, zeros({12}, ScalarType::Long)), 1);
  }
  // Only elements of the view are corrupted.
  for (int64_t seed = 0; seed < 20; ++seed) {
    FaultInjector injector({.pattern = "aten::select.int", .corrupt = true, .seed = seed});
    const HandlerGuard on(injector);
    const Tensor base = zeros({4, 4}, ScalarType::Byte);
    select(base, 1, 2);
    int changed = 0;
    for (int i = 0; i < 16; ++i)
      changed += static_cast<const uint8_t*>(base.data_ptr())[i] != 0 ? (i % 4 == 2 ? 1 : 100) : 0;
    EXPECT_EQ(changed, 1) << seed;
  }
}

TEST(FaultInjector, SaysWhatItCorruptedAndWhatItCouldNot) {
  FaultInjector injector({.pattern = "aten::*", .corrupt = true, .probability = 1.0});
  {
    const Tensor x = zeros({1}, ScalarType::Bool);
    const HandlerGuard on(injector);
    is_floating_point(x);
    logical_not(x);
  }
  EXPECT_EQ(injector.finish(false),
            "inject 'aten::*': 2 calls matched, 1 fault was injected\n"
            "  call 1: aten::is_floating_point gave no tensor that could be corrupted\n"
            "  call 2: flipped bit 0 of element 0 of tensor 0 that aten::logical_not gave\n");
}

TEST(FaultInjector, TheCorruptionIsSeenByNoHandlerAndCountsNoVersion) {
  Tensor x = ones({3});
  const uint32_t version = x.version();
  std::vector<std::string> seen;
  const ModeGuard outer([&](const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
    seen.push_back(toString(op));
    op.redispatchBoxed(keys, stack);
  });
  FaultInjector injector({.pattern = "aten::alias", .corrupt = true});
  const HandlerGuard on(injector);
  alias(x);
  EXPECT_EQ(seen, (std::vector<std::string>{"aten::alias"}));
  EXPECT_EQ(x.version(), version);
  EXPECT_EQ(injector.injected(), 1U);
}

TEST(FaultInjector, CallsOfSeveralThreadsAreCountedTogether) {
  FaultInjector injector({.pattern = "relu", .n = 100});
  std::atomic<int> failures = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const HandlerGuard on(injector);
      const Tensor x = ones({2});
      for (int call = 0; call < 50; ++call) failures += errorOf([&] { relu(x); }) == "no error" ? 0 : 1;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 1);
  EXPECT_EQ(injector.finish(true).substr(0, 58), "inject 'relu': 200 calls matched, 1 fault was injected\n  c");
}

TEST(FaultInjector, LongReportsAreCut) {
  FaultInjector injector({.pattern = "relu", .probability = 1.0});
  failuresOf(injector, 30);
  const std::string report = injector.finish(true);
  EXPECT_EQ(std::count(report.begin(), report.end(), '\n'), 22);
  EXPECT_TRUE(report.ends_with("  call 20: an Error in aten::relu\n  and 10 more\n")) << report;
  FaultInjector just_fits({.pattern = "relu", .probability = 1.0});
  failuresOf(just_fits, 20);
  EXPECT_TRUE(just_fits.finish(true).ends_with("  call 20: an Error in aten::relu\n"));
}

TEST(FaultInjector, OptionsThatMakeNoSenseAreErrors) {
  EXPECT_EQ(errorOf([] { FaultInjector({.pattern = "a", .n = 0}); }),
            "inject: n=0 is not a call; calls are counted from 1");
  EXPECT_EQ(errorOf([] { FaultInjector({.pattern = "a", .probability = 1.5}); }),
            "inject: probability=1.5 is not from 0.0 to 1.0");
  EXPECT_EQ(errorOf([] { FaultInjector({.pattern = "a", .n = 2, .probability = 0.5}); }),
            "inject: n=2 and probability=0.5 contradict each other; give one of them");
}

}  // namespace
}  // namespace boxcar
