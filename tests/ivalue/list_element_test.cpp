#include <boxcar/ivalue/ivalue.h>
#include <boxcar/ivalue/stack.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/test_support.h"

namespace boxcar {
namespace {

using Strings = std::vector<std::string>;

Tensor someTensor() { return Tensor::allocate(std::vector<int64_t>{2}, ScalarType::Float); }

template <class T>
concept AssignableByIndex = requires(T list) {
  list[0] = list.get(0);
};

// An assignment that could not write anything does not compile.
static_assert(AssignableByIndex<List<std::string>> && !AssignableByIndex<const List<std::string>>);
static_assert(AssignableByIndex<List<Tensor>> && !AssignableByIndex<const List<Tensor>>);
static_assert(AssignableByIndex<List<int64_t>> && !AssignableByIndex<const List<int64_t>>);
static_assert(AssignableByIndex<List<bool>> && AssignableByIndex<List<std::optional<Tensor>>>);
static_assert(AssignableByIndex<GenericList> && !AssignableByIndex<const GenericList>);

static_assert(std::random_access_iterator<List<int64_t>::iterator>);
static_assert(std::random_access_iterator<List<std::string>::iterator>);
static_assert(std::random_access_iterator<List<Tensor>::const_iterator>);
static_assert(std::is_convertible_v<List<bool>::iterator, List<bool>::const_iterator>);
static_assert(!std::is_convertible_v<List<bool>::const_iterator, List<bool>::iterator>);

TEST(ListElement, AssignmentByIndexWritesToTheList) {
  List<std::string> strings{"a", "b"};
  strings[1] = "c";
  EXPECT_EQ(strings.vec(), (Strings{"a", "c"}));

  const Tensor tensor = someTensor();
  List<Tensor> tensors{Tensor(), Tensor()};
  tensors[0] = tensor;
  EXPECT_TRUE(tensors.get(0).is_same(tensor));

  List<int64_t> ints{1, 2};
  ints[0] = 7;
  EXPECT_EQ(ints.vec(), (std::vector<int64_t>{7, 2}));

  List<bool> bools{false, false};
  bools[1] = true;
  EXPECT_EQ(bools.vec(), (std::vector<bool>{false, true}));

  List<std::optional<Tensor>> optionals{tensor};
  optionals[0] = std::nullopt;
  EXPECT_FALSE(optionals.get(0).has_value());
  optionals[0] = tensor;
  EXPECT_TRUE(optionals.get(0)->is_same(tensor));

  GenericList values{IValue(1)};
  values[0] = "text";
  EXPECT_EQ(values.get(0).toStringRef(), "text");

  List<List<int64_t>> lists{ints};
  lists[0] = List<int64_t>{5};
  EXPECT_EQ(lists.get(0).vec(), (std::vector<int64_t>{5}));
}

TEST(ListElement, OneElementIsAssignedToAnotherByValue) {
  List<std::string> list{"a", "b", "c"};
  list[0] = list[2];
  list[2] = "z";
  EXPECT_EQ(list.vec(), (Strings{"c", "b", "z"}));
  List<std::string> other{"other"};
  list[1] = other[0];
  EXPECT_EQ(list.get(1), "other");
  EXPECT_EQ(other.get(0), "other");
}

TEST(ListElement, ConvertsToItsValueWhereOneIsWanted) {
  List<std::string> strings{"a"};
  const std::string text = strings[0];
  EXPECT_EQ(text, "a");
  List<int64_t> ints{3};
  const int64_t number = ints[0];
  EXPECT_EQ(number + 1, 4);
  EXPECT_EQ(ints[0] * 2, 6);
  const Tensor tensor = someTensor();
  List<Tensor> tensors{tensor};
  EXPECT_TRUE(static_cast<Tensor>(tensors[0]).is_same(tensor));
  EXPECT_TRUE(tensors[0].get().is_same(tensor));
  std::vector<std::string> copies(strings.begin(), strings.end());
  EXPECT_EQ(copies, Strings{"a"});
}

TEST(ListElement, BecomesAValueOfItsOwnKind) {
  List<int64_t> ints{1, 0};
  EXPECT_TRUE(IValue(ints[0]).isInt());
  List<bool> bools{true};
  EXPECT_TRUE(IValue(bools[0]).isBool());
  List<double> doubles{1.5};
  EXPECT_TRUE(IValue(doubles[0]).isDouble());
  List<std::string> strings{"a"};
  EXPECT_TRUE(IValue(strings[0]).isString());
  List<std::optional<Tensor>> optionals{std::nullopt};
  EXPECT_TRUE(IValue(optionals[0]).isNone());
  GenericList values{IValue("b")};
  EXPECT_EQ(IValue(values[0]).toStringRef(), "b");
  const IValue copied = values[0];
  EXPECT_TRUE(copied.is(values.get(0)));
  Stack stack;
  push(stack, ints[0], strings[0]);
  EXPECT_TRUE(stack[0].isInt() && stack[1].isString());
}

TEST(ListElement, ComparesAndPrintsAsItsValue) {
  List<std::string> strings{"a", "a", "b"};
  EXPECT_TRUE(strings[0] == "a");
  EXPECT_TRUE("a" == strings[0]);
  EXPECT_TRUE(strings[0] == std::string("a"));
  EXPECT_TRUE(strings[0] == strings[1]);
  EXPECT_TRUE(strings[0] != strings[2]);
  List<int64_t> ints{1, 2};
  EXPECT_TRUE(ints[0] == 1);
  EXPECT_TRUE(2 == ints[1]);
  EXPECT_TRUE(ints[0] != ints[1]);
  EXPECT_TRUE(ints[0] < ints[1]);
  EXPECT_EQ(fmt::format("{} {}", ints[1], strings[2]), "2 b");
}

TEST(ListElement, SwapsPlaces) {
  List<std::string> list{"a", "b", "c"};
  swap(list[0], list[2]);
  EXPECT_EQ(list.vec(), (Strings{"c", "b", "a"}));
  swap(*list.begin(), *(list.begin() + 1));
  EXPECT_EQ(list.vec(), (Strings{"b", "c", "a"}));
  auto first = list[0];
  auto last = list[2];
  swap(first, last);
  EXPECT_EQ(list.vec(), (Strings{"a", "c", "b"}));
  List<std::string> other{"x"};
  swap(other[0], list[1]);
  EXPECT_EQ(list.get(1), "x");
  EXPECT_EQ(other.get(0), "c");
  std::iter_swap(list.begin(), list.begin() + 2);
  EXPECT_EQ(list.vec(), (Strings{"b", "x", "a"}));
}

TEST(ListElement, AnIndexOutsideIsAnErrorBeforeItIsUsed) {
  List<int64_t> list{1};
  EXPECT_EQ(errorOf([&] { list[1] = 2; }), "list index 1 is out of range for a list of 1 elements");
  EXPECT_EQ(errorOf([&] { static_cast<void>(std::as_const(list)[9]); }),
            "list index 9 is out of range for a list of 1 elements");
}

TEST(ListIterator, WritesThroughMutableIterators) {
  List<std::string> list{"a", "b"};
  *list.begin() = "x";
  list.begin()[1] = "y";
  EXPECT_EQ(list.vec(), (Strings{"x", "y"}));
  for (auto element : list) element = element.get() + "!";
  EXPECT_EQ(list.vec(), (Strings{"x!", "y!"}));
}

TEST(ListIterator, ReadsWhereTheListIsConst) {
  const List<std::string> list{"a", "b"};
  Strings read;
  for (const auto& element : list) read.push_back(element + "!");
  EXPECT_EQ(read, (Strings{"a!", "b!"}));
  static_assert(std::is_same_v<decltype(*list.begin()), std::string>);
  EXPECT_EQ(list.cend() - list.cbegin(), 2);
}

TEST(ListIterator, GoesAnywhere) {
  List<int64_t> list{10, 11, 12, 13};
  auto at = list.begin();
  EXPECT_EQ(*at++, 10);
  EXPECT_EQ(*at, 11);
  EXPECT_EQ(*++at, 12);
  EXPECT_EQ(*at--, 12);
  EXPECT_EQ(*--at, 10);
  at += 3;
  EXPECT_EQ(*at, 13);
  at -= 2;
  EXPECT_EQ(*at, 11);
  EXPECT_EQ(at[2], 13);
  EXPECT_EQ(*(1 + at), 12);
  EXPECT_EQ(*(at - 1), 10);
  EXPECT_EQ(list.end() - at, 3);
  EXPECT_TRUE(list.begin() < at && at <= at && at > list.begin() && list.end() >= at);
  EXPECT_TRUE(list.begin() == std::as_const(list).begin());
  EXPECT_EQ(list.begin() + 4, list.end());
}

TEST(ListIterator, AlgorithmsWorkOnIt) {
  List<std::string> strings{"c", "a", "d", "b"};
  std::sort(strings.begin(), strings.end());
  EXPECT_EQ(strings.vec(), (Strings{"a", "b", "c", "d"}));
  std::reverse(strings.begin(), strings.end());
  EXPECT_EQ(strings.vec(), (Strings{"d", "c", "b", "a"}));
  EXPECT_EQ(std::find(strings.begin(), strings.end(), "b") - strings.begin(), 2);

  List<int64_t> ints;
  int64_t sum = 0;
  for (int64_t i = 0; i < 100; ++i) {
    ints.push_back(i * 37 % 101);
    sum += i * 37 % 101;
  }
  std::sort(ints.begin(), ints.end(), std::greater<int64_t>());
  EXPECT_TRUE(std::is_sorted(ints.begin(), ints.end(), std::greater<int64_t>()));
  EXPECT_EQ(std::accumulate(ints.begin(), ints.end(), int64_t{0}), sum);
  std::fill(ints.begin(), ints.end(), 4);
  EXPECT_EQ(std::count(ints.begin(), ints.end(), 4), 100);

  GenericList values{IValue(2), IValue(1)};
  std::sort(values.begin(), values.end(), [](const IValue& a, const IValue& b) { return a.toInt() < b.toInt(); });
  EXPECT_EQ(values, (GenericList{IValue(1), IValue(2)}));
}

}  // namespace
}  // namespace boxcar
