#include <boxcar/ivalue/intrusive_ptr.h>
#include <boxcar/ivalue/tensor.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <thread>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tests/ivalue/written_object.h"

namespace boxcar {
namespace {

struct Counted : Object {
  explicit Counted(int* alive_count) : alive(alive_count) { ++*alive; }
  ~Counted() override { --*alive; }
  int* alive;
};
struct Derived final : Counted {
  using Counted::Counted;
};

static_assert(sizeof(IntrusivePtr<Counted>) == sizeof(void*));
static_assert(std::is_nothrow_copy_constructible_v<IntrusivePtr<Counted>>);
static_assert(std::is_nothrow_copy_assignable_v<IntrusivePtr<Counted>>);
static_assert(std::is_nothrow_move_constructible_v<IntrusivePtr<Counted>>);
static_assert(std::is_convertible_v<IntrusivePtr<Derived>, IntrusivePtr<Counted>>);
static_assert(!std::is_convertible_v<IntrusivePtr<Counted>, IntrusivePtr<Derived>>);

TEST(IntrusivePtr, CopiesCountAndTheLastDestroys) {
  int alive = 0;
  {
    const auto first = makeIntrusive<Counted>(&alive);
    EXPECT_EQ(first->useCount(), 1u);
    {
      const IntrusivePtr<Counted> second = first;
      EXPECT_EQ(first->useCount(), 2u);
      EXPECT_EQ(second, first);
    }
    EXPECT_EQ(first->useCount(), 1u);
    EXPECT_EQ(alive, 1);
  }
  EXPECT_EQ(alive, 0);
}

TEST(IntrusivePtr, MoveLeavesNullAndDoesNotCount) {
  int alive = 0;
  auto first = makeIntrusive<Counted>(&alive);
  IntrusivePtr<Counted> second = std::move(first);
  EXPECT_FALSE(first);
  EXPECT_EQ(second->useCount(), 1u);
  first = std::move(second);
  EXPECT_FALSE(second);
  EXPECT_EQ(first->useCount(), 1u);
}

TEST(IntrusivePtr, AssignmentReleasesWhatWasHeld) {
  int alive = 0;
  auto pointer = makeIntrusive<Counted>(&alive);
  pointer = makeIntrusive<Counted>(&alive);
  EXPECT_EQ(alive, 1);
  const auto& same = pointer;
  pointer = same;
  EXPECT_EQ(alive, 1);
  EXPECT_EQ(pointer->useCount(), 1u);
  pointer = nullptr;
  EXPECT_EQ(alive, 0);
}

TEST(IntrusivePtr, AdoptShareAndRelease) {
  int alive = 0;
  auto owner = makeIntrusive<Derived>(&alive);
  const IntrusivePtr<Counted> shared = IntrusivePtr<Counted>::share(owner.get());
  EXPECT_EQ(owner->useCount(), 2u);
  Derived* raw = owner.releasePointer();
  EXPECT_FALSE(owner);
  EXPECT_EQ(raw->useCount(), 2u);
  owner = IntrusivePtr<Derived>::adopt(raw);
  EXPECT_EQ(raw->useCount(), 2u);
  EXPECT_FALSE(IntrusivePtr<Counted>::share(nullptr));
}

TEST(IntrusivePtr, ADerivedObjectIsDestroyedThroughItsBase) {
  int alive = 0;
  { const IntrusivePtr<Counted> base = makeIntrusive<Derived>(&alive); }
  EXPECT_EQ(alive, 0);
}

TEST(IntrusivePtr, HashIsOfTheAddress) {
  int alive = 0;
  const auto pointer = makeIntrusive<Counted>(&alive);
  const std::unordered_set<IntrusivePtr<Counted>> set{pointer, pointer};
  EXPECT_EQ(set.size(), 1u);
}

TEST(IntrusivePtr, ResetDropsTheReference) {
  int alive = 0;
  auto pointer = makeIntrusive<Counted>(&alive);
  const auto kept = pointer;
  pointer.reset();
  EXPECT_FALSE(pointer.defined());
  EXPECT_EQ(alive, 1);
  EXPECT_TRUE(kept.unique());
  pointer.reset();
  EXPECT_EQ(pointer, nullptr);
  auto last = makeIntrusive<Counted>(&alive);
  last.reset();
  EXPECT_EQ(alive, 1);
}

TEST(IntrusivePtr, SwapChangesPlacesAndDoesNotCount) {
  int alive = 0;
  auto first = makeIntrusive<Counted>(&alive);
  auto second = makeIntrusive<Counted>(&alive);
  Counted* const raw = first.get();
  IntrusivePtr<Counted> none;
  first.swap(second);
  EXPECT_EQ(second.get(), raw);
  swap(second, none);
  EXPECT_EQ(none.get(), raw);
  EXPECT_EQ(second, nullptr);
  none.swap(none);
  EXPECT_EQ(none.get(), raw);
  EXPECT_TRUE(first.unique() && none.unique());
}

TEST(IntrusivePtr, TellsHowManyReferencesThereAre) {
  int alive = 0;
  const auto pointer = makeIntrusive<Counted>(&alive);
  EXPECT_TRUE(pointer.unique());
  EXPECT_EQ(pointer.use_count(), 1u);
  EXPECT_EQ(pointer.weak_use_count(), 1u);
  const auto second = pointer;
  EXPECT_EQ(second.use_count(), 2u);
  EXPECT_FALSE(pointer.unique());
  EXPECT_EQ(IntrusivePtr<Counted>().use_count(), 0u);
  EXPECT_FALSE(IntrusivePtr<Counted>().unique());
}

TEST(IntrusivePtr, OrderIsThatOfTheAddresses) {
  int alive = 0;
  const auto first = makeIntrusive<Counted>(&alive);
  const auto second = makeIntrusive<Counted>(&alive);
  EXPECT_NE(first, second);
  EXPECT_EQ(first < second, std::less<>()(first.get(), second.get()));
  EXPECT_TRUE((first < second) != (second < first));
  EXPECT_TRUE(IntrusivePtr<Counted>() < first);
  EXPECT_TRUE(first <= first && first >= first);
  std::map<IntrusivePtr<Counted>, int> numbers{{first, 1}, {second, 2}, {nullptr, 0}};
  EXPECT_EQ(numbers.at(first), 1);
  EXPECT_EQ(numbers.begin()->second, 0);
}

TEST(IntrusivePtr, ThreadsCountTogether) {
  int alive = 0;
  {
    const auto shared = makeIntrusive<Counted>(&alive);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([copy = shared] {
        for (int round = 0; round < 10000; ++round) const IntrusivePtr<Counted> another = copy;
      });
    }
    for (std::thread& thread : threads) thread.join();
    threads.clear();
    EXPECT_EQ(shared->useCount(), 1u);
  }
  EXPECT_EQ(alive, 0);
}

TEST(IntrusivePtr, TheLastThreadSeesWhatTheOthersWroteBeforeTheyLetGo) {
  for (int round = 0; round < 200; ++round) {
    int sum = 0;
    auto first = makeIntrusive<Written>(&sum);
    const auto hold = [](IntrusivePtr<Written> held, int place) { held->numbers[place] = place + 1; };
    std::thread other(hold, first, 1);
    hold(std::move(first), 0);
    other.join();
    EXPECT_EQ(sum, 3);
  }
}

}  // namespace
}  // namespace boxcar
