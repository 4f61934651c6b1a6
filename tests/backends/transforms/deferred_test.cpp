#include <boxcar/backends/transforms/deferred_init.h>
#include <boxcar/backends/transforms/fake_scope.h>
#include <boxcar/backends/transforms/fake_tensor.h>
#include <boxcar/ivalue/cpu_generator.h>
#include <boxcar/ivalue/storage_observer.h>

#include <atomic>
#include <functional>

#include "tests/backends/tensor_helpers.h"

// deferredInit(): tensors that are made later, with the values that they would have had.

namespace boxcar::transforms {
namespace {

std::vector<Tensor> deferred(const std::function<std::vector<Tensor>()>& make) {
  const IValue made = deferredInit([&] { return IValue(make()); });
  return made.to<std::vector<Tensor>>();
}

std::vector<Tensor> real(const std::vector<Tensor>& fakes) {
  return materialize(IValue(fakes)).to<std::vector<Tensor>>();
}

// Checks that [make] gives the same elements with the same seed, at once and later.
void expectSame(const std::function<std::vector<Tensor>()>& make) {
  defaultCpuGenerator().set_current_seed(7);
  const std::vector<Tensor> wanted = make();
  defaultCpuGenerator().set_current_seed(7);
  const std::vector<Tensor> fakes = deferred(make);
  const std::vector<Tensor> found = real(fakes);
  ASSERT_EQ(found.size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_TRUE(isFake(fakes[i])) << i;
    EXPECT_FALSE(isFake(found[i])) << i;
    EXPECT_EQ(elements<float>(found[i]), elements<float>(wanted[i])) << i;
    EXPECT_EQ(stridesOf(found[i]), stridesOf(wanted[i])) << i;
    EXPECT_EQ(found[i].requires_grad(), wanted[i].requires_grad()) << i;
  }
}

TEST(DeferredInit, GivesTheValuesOfADirectRun) {
  expectSame([] {
    Tensor weight = randn({3, 2});
    mul_(weight, 0.1);
    return std::vector<Tensor>{weight, zeros({3}), rand({2})};
  });
}

TEST(DeferredInit, WritesToViewsReachTheirBase) {
  expectSame([] {
    Tensor x = zeros({4});
    Tensor part = slice(x, 0, 1, 3);
    normal_(part);
    return std::vector<Tensor>{x, part};
  });
}

TEST(DeferredInit, ReadsComeBeforeLaterWrites) {
  const auto make = [] {
    Tensor a = ones({2});
    Tensor b = add(a, 1);
    fill_(a, 5);
    return std::vector<Tensor>{a, b};
  };
  expectSame(make);
  const std::vector<Tensor> fakes = deferred(make);
  EXPECT_EQ(elements<float>(real({fakes[0]})[0]), (std::vector<float>{5, 5}));
  EXPECT_EQ(elements<float>(real({fakes[1]})[0]), (std::vector<float>{2, 2}));
}

TEST(DeferredInit, ShapesThatChangeAreFollowed) {
  expectSame([] {
    Tensor x = randn({2, 3});
    transpose_(x, 0, 1);
    Tensor y = rand({0});
    add_out(y, x, x);
    return std::vector<Tensor>{x, y};
  });
}

TEST(DeferredInit, LeavesRequireGradAgain) {
  expectSame([] { return std::vector<Tensor>{randn({2}).set_requires_grad(true)}; });
}

TEST(DeferredInit, ViewsShareTheirMemory) {
  const std::vector<Tensor> fakes = deferred([] {
    const Tensor x = zeros({4});
    return std::vector<Tensor>{x, slice(x, 0, 2)};
  });
  const std::vector<Tensor> found = real(fakes);
  Tensor x = found[0];
  fill_(x, 3);
  EXPECT_EQ(elements<float>(found[1]), (std::vector<float>{3, 3}));
  // Later, too.
  EXPECT_EQ(real({fakes[1]})[0].storage(), x.storage());
}

TEST(DeferredInit, OnlyWhatIsWantedIsMade) {
  const std::vector<Tensor> fakes = deferred([] {
    return std::vector<Tensor>{zeros({int64_t{1} << 40}), ones({2})};  // the first fits no memory
  });
  EXPECT_EQ(elements<float>(real({fakes[1]})[0]), (std::vector<float>{1, 1}));
}

TEST(DeferredInit, CallsAfterItAreRecordedToo) {
  std::vector<Tensor> fakes = deferred([] { return std::vector<Tensor>{ones({2})}; });
  mul_(fakes[0], 3);
  const Tensor sum = add(fakes[0], 1);
  EXPECT_EQ(elements<float>(real({sum})[0]), (std::vector<float>{4, 4}));
}

TEST(DeferredInit, TensorsOfTwoRunsMix) {
  const Tensor a = deferred([] { return std::vector<Tensor>{ones({2})}; })[0];
  const Tensor b = deferred([] { return std::vector<Tensor>{full({2}, 4)}; })[0];
  const Tensor sum = add(a, b);
  EXPECT_EQ(elements<float>(real({sum})[0]), (std::vector<float>{5, 5}));
  EXPECT_EQ(elements<float>(real({a})[0]), (std::vector<float>{1, 1}));
}

TEST(DeferredInit, RealTensorsMayTakePart) {
  Tensor given = floats({1, 2});
  std::vector<Tensor> fakes = deferred([&] { return std::vector<Tensor>{add(given, 1), mul(given, 2)}; });
  EXPECT_EQ(elements<float>(real({fakes[0]})[0]), (std::vector<float>{2, 3}));
  zero_(given);
  EXPECT_EQ(errorOf([&] { real({fakes[1]}); }),
            "materialize: a real tensor of sizes [2], which aten::mul.Scalar took inside deferred_init(), was written "
            "since; give it a clone()");
  EXPECT_EQ(errorOf([&] { deferred([&] { return std::vector<Tensor>{zero_(given)}; }); }),
            "aten::zero_: argument 'self' is a real tensor, which cannot be written inside deferred_init(); write a "
            "clone() of it");
}

TEST(DeferredInit, OthersCannotBeMaterialized) {
  const FakeTensorGuard fake;
  const Tensor x = zeros({2});
  EXPECT_EQ(
      errorOf([&] { materialize(x); }),
      "func::materialize: a fake tensor of sizes [2] was not made by func::deferred_init, so nothing says what its "
      "elements are");
}

TEST(DeferredInit, RealTensorsStay) {
  const Tensor x = ones({2});
  EXPECT_TRUE(materialize(x).toTensor().is_same(x));
}

TEST(DeferredInit, NothingIsLeft) {
  std::atomic<int64_t> live = 0;
  // Observers are told when storages on meta are freed, and not when they are made.
  static constexpr auto kAdd = [](void* count, const StorageImpl& storage, int64_t change) {
    if (!storage.device().is_meta()) *static_cast<std::atomic<int64_t>*>(count) += change;
  };
  const StorageObserver observer{[](void* count, const StorageImpl& storage, size_t) { kAdd(count, storage, 1); },
                                 [](void* count, const StorageImpl& storage, size_t) { kAdd(count, storage, -1); },
                                 &live};
  const StorageObserver* const before = setStorageObserver(&observer);
  for (int i = 0; i < 10; ++i) {
    std::vector<Tensor> fakes = deferred([] {
      Tensor x = randn({4});
      mul_(x, 2);
      return std::vector<Tensor>{x, slice(x, 0, 1)};
    });
    real(fakes);
  }
  setStorageObserver(before);
  EXPECT_EQ(live, 0);
}

}  // namespace
}  // namespace boxcar::transforms
