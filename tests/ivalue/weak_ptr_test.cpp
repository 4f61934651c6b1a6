#include <boxcar/ivalue/ivalue.h>
#include <boxcar/ivalue/weak_ivalue.h>
#include <boxcar/ivalue/weak_ptr.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tests/ivalue/written_object.h"

namespace boxcar {
namespace {

class Node : public Object {
 public:
  explicit Node(std::atomic<int>* alive = nullptr) : alive_(alive) {
    if (alive_ != nullptr) ++*alive_;
  }
  ~Node() override {
    if (alive_ != nullptr) --*alive_;
  }

  WeakIntrusivePtr<Node> parent;
  IntrusivePtr<Node> child;
  int number = 7;

 private:
  std::atomic<int>* alive_;
};
class Leaf final : public Node {
 public:
  using Node::Node;
};

using WeakNode = WeakIntrusivePtr<Node>;

Tensor someTensor() { return Tensor::allocate(std::vector<int64_t>{2}, ScalarType::Float); }

static_assert(std::is_nothrow_copy_constructible_v<WeakNode> && std::is_nothrow_move_constructible_v<WeakNode>);
static_assert(std::is_convertible_v<WeakIntrusivePtr<Leaf>, WeakNode>);
static_assert(!std::is_convertible_v<WeakNode, WeakIntrusivePtr<Leaf>>);
// The data for weak references lie outside the objects.
static_assert(sizeof(Object) == 16 && sizeof(StringObject) == 16 + sizeof(std::string));

TEST(WeakPtr, LocksWhileTheObjectLives) {
  std::atomic<int> alive = 0;
  auto strong = makeIntrusive<Node>(&alive);
  const WeakNode weak(strong);
  EXPECT_FALSE(weak.expired());
  EXPECT_EQ(weak.use_count(), 1u);
  EXPECT_EQ(strong.use_count(), 1u);
  {
    const IntrusivePtr<Node> locked = weak.lock();
    EXPECT_EQ(locked, strong);
    EXPECT_EQ(weak.use_count(), 2u);
  }
  strong.reset();
  EXPECT_EQ(alive, 0);
  EXPECT_TRUE(weak.expired());
  EXPECT_EQ(weak.use_count(), 0u);
  EXPECT_FALSE(weak.lock());
}

TEST(WeakPtr, TheLockedReferenceKeepsTheObject) {
  std::atomic<int> alive = 0;
  auto strong = makeIntrusive<Node>(&alive);
  const WeakNode weak(strong);
  IntrusivePtr<Node> locked = weak.lock();
  strong.reset();
  EXPECT_EQ(alive, 1);
  EXPECT_EQ(locked->number, 7);
  EXPECT_TRUE(weak.lock());
  locked.reset();
  EXPECT_EQ(alive, 0);
  EXPECT_FALSE(weak.lock());
}

TEST(WeakPtr, NullOnesAreExpired) {
  const WeakNode none;
  EXPECT_TRUE(none.expired());
  EXPECT_FALSE(none.lock());
  EXPECT_EQ(none.weak_use_count(), 0u);
  EXPECT_EQ(WeakNode(IntrusivePtr<Node>()), none);
  EXPECT_EQ(IntrusivePtr<Node>().weak_use_count(), 0u);
}

TEST(WeakPtr, CopiesMovesAndAssignments) {
  const auto strong = makeIntrusive<Node>();
  const auto other = makeIntrusive<Node>();
  WeakNode first(strong);
  EXPECT_EQ(first.weak_use_count(), 2u);
  WeakNode second = first;
  EXPECT_EQ(second, first);
  EXPECT_EQ(strong.weak_use_count(), 3u);
  WeakNode third = std::move(first);
  EXPECT_FALSE(first.lock());  // NOLINT(bugprone-use-after-move): is null
  EXPECT_EQ(strong.weak_use_count(), 3u);
  third = WeakNode(other);
  EXPECT_EQ(third.lock(), other);
  EXPECT_EQ(strong.weak_use_count(), 2u);
  third = second;
  EXPECT_EQ(third.lock(), strong);
  const WeakNode& same = third;
  third = same;
  EXPECT_EQ(third.lock(), strong);
  third = other;
  EXPECT_EQ(third.lock(), other);
  third.swap(second);
  EXPECT_TRUE(third.lock() == strong && second.lock() == other);
  swap(third, second);
  EXPECT_TRUE(third.lock() == other && second.lock() == strong);
  third.reset();
  second.reset();
  EXPECT_TRUE(third.expired());
  EXPECT_EQ(strong.weak_use_count(), 1u);
  EXPECT_EQ(strong.use_count(), 1u);
}

TEST(WeakPtr, ConvertsToItsBase) {
  auto leaf = makeIntrusive<Leaf>();
  const WeakIntrusivePtr<Leaf> weak(leaf);
  const WeakNode base = weak;
  EXPECT_EQ(base.lock().get(), leaf.get());
  EXPECT_EQ(leaf.weak_use_count(), 3u);
  leaf.reset();
  EXPECT_TRUE(base.expired() && weak.expired());
}

TEST(WeakPtr, EqualityOrderAndHashOutliveTheObject) {
  auto strong = makeIntrusive<Node>();
  const auto other = makeIntrusive<Node>();
  const WeakNode first(strong);
  const WeakNode second(strong);
  const WeakNode different(other);
  std::set<WeakNode> ordered{first, second, different};
  EXPECT_EQ(ordered.size(), 2u);
  const std::unordered_set<WeakNode> hashed{first, second, different};
  EXPECT_EQ(hashed.size(), 2u);
  EXPECT_TRUE((first < different) != (different < first));
  strong.reset();
  EXPECT_EQ(first, second);
  EXPECT_NE(first, different);
  EXPECT_EQ(hashed.count(first), 1u);
  EXPECT_EQ(ordered.count(second), 1u);
}

TEST(WeakPtr, ANewObjectAtTheSameAddressIsAnotherOne) {
  for (int i = 0; i < 1000; ++i) {
    auto strong = makeIntrusive<Node>();
    const WeakNode weak(strong);
    strong.reset();
    strong = makeIntrusive<Node>();
    ASSERT_FALSE(weak.lock());
    ASSERT_NE(weak, WeakNode(strong));
  }
}

TEST(WeakPtr, AnObjectThatHadWeakReferencesGoesAsAnyOther) {
  std::atomic<int> alive = 0;
  auto strong = makeIntrusive<Node>(&alive);
  { const WeakNode weak(strong); }
  auto copy = strong;
  strong.reset();
  EXPECT_EQ(alive, 1);
  const WeakNode again(copy);
  EXPECT_EQ(again.lock(), copy);
  copy.reset();
  EXPECT_EQ(alive, 0);
}

TEST(WeakPtr, AParentAndAChildThatKnowEachOtherAreFreed) {
  std::atomic<int> alive = 0;
  {
    const auto parent = makeIntrusive<Node>(&alive);
    parent->child = makeIntrusive<Node>(&alive);
    parent->child->parent = parent;
    EXPECT_EQ(parent->child->parent.lock(), parent);
    EXPECT_EQ(alive, 2);
  }
  EXPECT_EQ(alive, 0);
}

// Looks for itself while it is being destroyed.
class Curious final : public Object {
 public:
  explicit Curious(bool* found) : found_(found) {}
  ~Curious() override { *found_ = static_cast<bool>(self.lock()); }

  WeakIntrusivePtr<Curious> self;

 private:
  bool* found_;
};

TEST(WeakPtr, AnObjectIsNotFoundWhileItIsDestroyed) {
  bool found = true;
  {
    const auto curious = makeIntrusive<Curious>(&found);
    curious->self = curious;
    EXPECT_TRUE(curious->self.lock());
  }
  EXPECT_FALSE(found);
}

TEST(WeakPtr, ObjectsOfEveryKindHaveThem) {
  Tensor tensor = someTensor();
  const WeakIntrusivePtr<TensorImpl> weak_tensor(IntrusivePtr<TensorImpl>::share(tensor.unsafeGetTensorImpl()));
  const WeakIntrusivePtr<StorageImpl> weak_storage(tensor.storage());
  EXPECT_TRUE(Tensor(weak_tensor.lock()).is_same(tensor));
  EXPECT_EQ(weak_storage.lock(), tensor.storage());
  tensor = Tensor();
  EXPECT_TRUE(weak_tensor.expired() && weak_storage.expired());

  auto list = std::make_unique<List<int64_t>>();
  const WeakIntrusivePtr<IntListObject> weak_list(list->object());
  EXPECT_TRUE(weak_list.lock());
  list.reset();
  EXPECT_TRUE(weak_list.expired());

  auto dict = std::make_unique<GenericDict>();
  const WeakIntrusivePtr<DictObject> weak_dict(dict->object());
  EXPECT_TRUE(weak_dict.lock());
  dict.reset();
  EXPECT_TRUE(weak_dict.expired());
}

TEST(WeakPtr, TheUndefinedTensorNeverExpires) {
  const auto shared = IntrusivePtr<TensorImpl>::share(TensorImpl::undefined());
  const WeakIntrusivePtr<TensorImpl> weak(shared);
  for (int i = 0; i < 10; ++i) {
    Tensor tensor;
    const Tensor taken = std::move(tensor);
  }
  EXPECT_EQ(weak.lock().get(), TensorImpl::undefined());
}

// One thread drops the last reference while others turn weak references into strong ones: the object is freed once, and
// nobody gets it afterwards.
TEST(WeakPtr, LockRacesTheLastRelease) {
  constexpr int kThreads = 3;
  for (int round = 0; round < 300; ++round) {
    std::atomic<int> alive = 0;
    auto strong = makeIntrusive<Node>(&alive);
    const WeakNode weak(strong);
    std::atomic<int> ready = 0;
    std::atomic<int> wrong = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, mine = weak] {
        ++ready;
        for (int attempt = 0; attempt < 50; ++attempt) {
          if (const IntrusivePtr<Node> locked = mine.lock()) {
            if (locked->number != 7 || alive != 1) ++wrong;
          }
        }
      });
    }
    while (ready != kThreads) std::this_thread::yield();
    strong.reset();
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(alive, 0);
    EXPECT_TRUE(weak.expired());
  }
}

TEST(WeakPtr, WeakReferencesAreMadeAndDroppedOnManyThreads) {
  std::atomic<int> alive = 0;
  {
    const auto strong = makeIntrusive<Node>(&alive);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([held = strong] {
        for (int attempt = 0; attempt < 2000; ++attempt) {
          const WeakNode weak(held);
          const WeakNode copy = weak;
          const IntrusivePtr<Node> locked = copy.lock();
          if (locked != held) std::terminate();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    threads.clear();
    EXPECT_EQ(strong.weak_use_count(), 1u);
    EXPECT_EQ(strong.use_count(), 1u);
  }
  EXPECT_EQ(alive, 0);
}

TEST(WeakPtr, WhoLetsGoLastSeesWhatTheOthersWrote) {
  for (int round = 0; round < 200; ++round) {
    int sum = 0;
    auto strong = makeIntrusive<Written>(&sum);
    strong->numbers[0] = 1;
    std::thread other([weak = WeakIntrusivePtr<Written>(strong)] {
      if (const IntrusivePtr<Written> locked = weak.lock()) locked->numbers[1] = 2;
    });
    strong.reset();
    other.join();
    EXPECT_TRUE(sum == 1 || sum == 3) << sum;
  }
}

TEST(WeakIValue, GivesTheObjectBackWhileItLives) {
  IValue list(List<int64_t>{1, 2});
  const WeakIValue weak(list);
  EXPECT_EQ(weak.use_count(), 1u);
  EXPECT_EQ(weak.weak_use_count(), 2u);
  EXPECT_TRUE(weak.lock().is(list));
  EXPECT_EQ(list.use_count(), 1u);
  list = IValue();
  EXPECT_TRUE(weak.expired());
  EXPECT_TRUE(weak.lock().isNone());
  EXPECT_EQ(weak.use_count(), 0u);
}

TEST(WeakIValue, EveryKindOfObjectComesBackAsWhatItWas) {
  const Tensor tensor = someTensor();
  const std::vector<IValue> values = {
      IValue(tensor),
      IValue("text"),
      IValue(List<double>{1}),
      IValue(List<bool>{true}),
      IValue(List<std::complex<double>>{1}),
      IValue(List<Tensor>{tensor}),
      IValue(GenericList{IValue(1)}),
      IValue(GenericDict()),
      IValue(Tuple({IValue(1)})),
      IValue(tensor.storage()),
      IValue(makeIntrusive<Future>()),
      IValue(makeIntrusive<EnumHolder>("a.B", "C", IValue(1))),
  };
  std::vector<WeakIValue> weak;
  for (const IValue& value : values) weak.emplace_back(value);
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(weak[i].lock().tag(), values[i].tag());
    EXPECT_TRUE(weak[i].lock().is(values[i])) << values[i].tagKind();
    EXPECT_EQ(values[i].use_count(), values[i].isTensor() ? 3u : values[i].isStorage() ? 2u : 1u);
  }
}

TEST(WeakIValue, KeepsWhatIsNotShared) {
  const std::vector<IValue> values = {IValue(),
                                      IValue(true),
                                      IValue(3),
                                      IValue(2.5),
                                      IValue(Device(kCUDA, 1)),
                                      IValue(std::complex<double>(1, 2)),
                                      IValue(Tensor())};
  std::vector<WeakIValue> weak;
  for (const IValue& value : values) weak.emplace_back(value);
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_TRUE(weak[i].lock().is(values[i])) << values[i].tagKind();
    EXPECT_EQ(weak[i].lock().tag(), values[i].tag());
    EXPECT_FALSE(weak[i].expired());
    EXPECT_EQ(weak[i].use_count(), 1u);
  }
  EXPECT_TRUE(WeakIValue().lock().isNone());
}

TEST(WeakIValue, IdentityAndHashAgree) {
  const IValue list(List<int64_t>{1});
  const WeakIValue first(list);
  const WeakIValue second(list);
  const WeakIValue other(IValue(List<int64_t>{1}));
  EXPECT_TRUE(first.isSameIdentity(second));
  EXPECT_EQ(first.hash(), second.hash());
  EXPECT_FALSE(first.isSameIdentity(other));
  EXPECT_TRUE(WeakIValue(IValue(1)).isSameIdentity(WeakIValue(IValue(1))));
  EXPECT_EQ(std::hash<WeakIValue>()(WeakIValue(IValue(1))), WeakIValue(IValue(1)).hash());
  EXPECT_FALSE(WeakIValue(IValue(1)).isSameIdentity(WeakIValue(IValue(2))));
  EXPECT_FALSE(WeakIValue(IValue(1)).isSameIdentity(first));
  EXPECT_TRUE(WeakIValue(IValue()).isSameIdentity(WeakIValue(IValue(Tensor()))));
  EXPECT_EQ(WeakIValue(IValue()).hash(), WeakIValue(IValue(Tensor())).hash());
}

TEST(WeakIValue, CopiesAndAssignments) {
  IValue list(List<int64_t>{1});
  WeakIValue weak(list);
  const WeakIValue copy = weak;
  weak = WeakIValue(IValue(5));
  EXPECT_EQ(weak.lock().toInt(), 5);
  weak = copy;
  EXPECT_TRUE(weak.lock().is(list));
  list = IValue();
  EXPECT_TRUE(weak.lock().isNone() && copy.lock().isNone());
}

TEST(Attachment, LivesAsLongAsTheObject) {
  std::atomic<int> alive = 0;
  auto object = makeIntrusive<Node>();
  EXPECT_FALSE(attachedTo(*object));
  const IntrusivePtr<Object> data = attach(*object, makeIntrusive<Node>(&alive));
  EXPECT_EQ(attach(*object, makeIntrusive<Node>(&alive)).get(), data.get()) << "the first one stays";
  EXPECT_EQ(attachedTo(*object).get(), data.get());
  EXPECT_EQ(alive, 1);
  EXPECT_EQ(data.use_count(), 2u);
  object.reset();
  EXPECT_EQ(data.use_count(), 1u);
  // An object that gets the same memory has nothing.
  for (int i = 0; i < 8; ++i) EXPECT_FALSE(attachedTo(*makeIntrusive<Node>()));
}

// What is attached may refer weakly to the object, and to others under the same locks.
TEST(Attachment, MayReferWeaklyToTheObject) {
  std::atomic<int> alive = 0;
  auto object = makeIntrusive<Node>();
  auto data = makeIntrusive<Node>(&alive);
  data->parent = WeakNode(object);
  attach(*object, std::move(data));
  const WeakNode weak(object);
  object.reset();
  EXPECT_EQ(alive, 0);
  EXPECT_TRUE(weak.expired());
}

TEST(Attachment, IsOneForAllThreads) {
  for (int repeat = 0; repeat < 50; ++repeat) {
    std::atomic<int> alive = 0;
    auto object = makeIntrusive<Node>();
    std::vector<std::thread> threads;
    std::vector<const Object*> seen(4);
    for (size_t i = 0; i < seen.size(); ++i) {
      threads.emplace_back([&, i, own = object] { seen[i] = attach(*own, makeIntrusive<Node>(&alive)).get(); });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(std::set<const Object*>(seen.begin(), seen.end()).size(), 1u);
    EXPECT_EQ(alive, 1);
    threads.clear();
    object.reset();
    EXPECT_EQ(alive, 0);
  }
}

}  // namespace
}  // namespace boxcar
