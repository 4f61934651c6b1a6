#include <boxcar/ivalue/ivalue.h>
#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/test_support.h"

namespace boxcar {
namespace {

TEST(List, HoldsItsElementsInOrder) {
  List<int64_t> list{1, 2};
  list.push_back(3);
  list.set(0, 10);
  EXPECT_EQ(list.size(), 3u);
  EXPECT_EQ(list[0], 10);
  EXPECT_EQ(list.get(2), 3);
  EXPECT_EQ(list.vec(), (std::vector<int64_t>{10, 2, 3}));
  int64_t sum = 0;
  for (const int64_t element : list) sum += element;
  EXPECT_EQ(sum, 15);
  list.clear();
  EXPECT_TRUE(list.empty());
}

TEST(List, CopiesAreOneList) {
  const List<int64_t> first{1};
  const List<int64_t> second = first;
  second.push_back(2);
  EXPECT_EQ(first.size(), 2u);
  EXPECT_TRUE(first.is(second));
  const List<int64_t> copy = first.copy();
  EXPECT_FALSE(copy.is(first));
  EXPECT_EQ(copy, first);
  copy.push_back(3);
  EXPECT_EQ(first.size(), 2u);
  EXPECT_FALSE(copy == first);
}

TEST(List, TypedElementsLieSideBySide) {
  const List<double> doubles{0.5, 1.5};
  EXPECT_EQ(doubles.span().data()[1], 1.5);
  const List<bool> bools{true, false, true};
  EXPECT_EQ(bools.span().size(), 3u);
  EXPECT_TRUE(bools.span().data()[2]);
  const List<std::complex<double>> complexes{{1, 2}};
  EXPECT_EQ(complexes.span()[0].imag(), 2);
  const std::vector<int64_t> values{4, 5};
  EXPECT_EQ(List<int64_t>(std::span<const int64_t>(values)).vec(), values);
}

TEST(List, OtherElementsAreValues) {
  const List<std::string> strings{"a", "b"};
  EXPECT_EQ(strings[1], "b");
  EXPECT_TRUE(strings.span()[0].isString());
  const List<std::optional<Tensor>> tensors{std::nullopt, Tensor()};
  EXPECT_FALSE(tensors[0].has_value());
  EXPECT_TRUE(tensors[1].has_value());
  const List<List<int64_t>> nested{List<int64_t>{1}, List<int64_t>{2, 3}};
  EXPECT_EQ(nested[1][1], 3);
  nested[0].push_back(9);
  EXPECT_EQ(nested[0].size(), 2u);
}

TEST(List, AnIndexOutsideIsAnError) {
  const List<int64_t> list{1, 2, 3};
  EXPECT_EQ(errorOf([&] { list.get(3); }), "list index 3 is out of range for a list of 3 elements");
  EXPECT_EQ(errorOf([&] { list.set(7, 1); }), "list index 7 is out of range for a list of 3 elements");
}

TEST(List, ComparesElements) {
  EXPECT_EQ((List<int64_t>{1, 2}), (List<int64_t>{1, 2}));
  EXPECT_FALSE((List<int64_t>{1, 2}) == (List<int64_t>{1, 3}));
  EXPECT_FALSE((List<int64_t>{1}) == (List<int64_t>{1, 1}));
  const Tensor tensor = Tensor::allocate(std::vector<int64_t>{1}, ScalarType::Float);
  EXPECT_EQ((List<Tensor>{tensor}), (List<Tensor>{tensor}));
  EXPECT_FALSE((List<Tensor>{tensor}) == (List<Tensor>{Tensor()}));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const List<double> with_nan{nan};
  EXPECT_EQ(with_nan, with_nan);
  EXPECT_FALSE(with_nan == List<double>{nan});
}

TEST(List, HoldsReferencesToTensors) {
  const Tensor tensor = Tensor::allocate(std::vector<int64_t>{1}, ScalarType::Float);
  {
    const List<Tensor> list{tensor, tensor};
    EXPECT_EQ(tensor.unsafeGetTensorImpl()->useCount(), 3u);
    const List<Tensor> copy = list.copy();
    EXPECT_EQ(tensor.unsafeGetTensorImpl()->useCount(), 5u);
  }
  EXPECT_EQ(tensor.unsafeGetTensorImpl()->useCount(), 1u);
}

// Deep enough to overflow the stack if destruction were recursive.
constexpr int kDeep = 200'000;

IValue nestedLists(IValue innermost, int depth) {
  IValue value = std::move(innermost);
  for (int i = 0; i < depth; ++i) {
    std::vector<IValue> elements;
    elements.push_back(std::move(value));
    value = IValue(GenericList(makeIntrusive<GenericListObject>(std::move(elements))));
  }
  return value;
}

TEST(List, NestedAMillionDeepIsDestroyed) {
  const Tensor tensor = Tensor::allocate(std::vector<int64_t>{1}, ScalarType::Float);
  IValue value = nestedLists(IValue(tensor), 1'000'000);
  EXPECT_EQ(tensor.unsafeGetTensorImpl()->useCount(), 2u);
  value = IValue();
  EXPECT_EQ(tensor.unsafeGetTensorImpl()->useCount(), 1u);
}

TEST(List, NestedDeepIsClearedInAnotherThread) {
  const GenericList list{nestedLists(IValue(1), kDeep)};
  std::thread([list] { list.clear(); }).join();
  EXPECT_TRUE(list.empty());
}

TEST(List, DictsAndTuplesNestedDeepAreDestroyed) {
  IValue value(1);
  for (int i = 0; i < kDeep; ++i) {
    if (i % 2 == 0) {
      std::vector<IValue> elements;
      elements.push_back(std::move(value));
      value = IValue(Tuple(std::move(elements)));
    } else {
      GenericDict dict;
      dict.insert_or_assign(IValue(0), std::move(value));
      value = IValue(dict);
    }
  }
  value = IValue();
  EXPECT_TRUE(value.isNone());
}

// Destroyed after the thread's own thread_local objects.
IValue& longLived() {
  static IValue value;
  return value;
}
TEST(List, NestedListsMayOutliveTheThread) {
  longLived() = nestedLists(IValue(), kDeep);
  EXPECT_EQ(longLived().length(), 1u);
}

}  // namespace
}  // namespace boxcar
