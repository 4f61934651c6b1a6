#include <boxcar/ivalue/ivalue.h>
#include <gtest/gtest.h>

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tests/test_support.h"

namespace boxcar {
namespace {

using Strings = std::vector<std::string>;
using Ints = std::vector<int64_t>;

Tensor someTensor() { return Tensor::allocate(std::vector<int64_t>{2}, ScalarType::Float); }

// One list for each kind of storage, and its initial content: two elements that are not T().
template <class T>
std::vector<T> twoOf();
template <>
std::vector<int64_t> twoOf() {
  return {1, 2};
}
template <>
std::vector<double> twoOf() {
  return {0.5, 1.5};
}
template <>
std::vector<bool> twoOf() {
  return {true, true};
}
template <>
std::vector<std::complex<double>> twoOf() {
  return {{1, 2}, {3, 4}};
}
template <>
std::vector<std::string> twoOf() {
  return {"one", "two"};
}
template <>
std::vector<std::optional<int64_t>> twoOf() {
  return {1, 2};
}

template <class T>
class ListOf : public testing::Test {
 protected:
  std::vector<T> two = twoOf<T>();
  List<T> list{two[0], two[1]};
};
using Elements = testing::Types<int64_t, double, bool, std::complex<double>, std::string, std::optional<int64_t>>;
TYPED_TEST_SUITE(ListOf, Elements);

TYPED_TEST(ListOf, ExtractGivesTheElementAwayAndLeavesADefault) {
  using T = TypeParam;
  EXPECT_EQ(this->list.extract(1), static_cast<T>(this->two[1]));
  EXPECT_EQ(this->list.size(), 2u);
  EXPECT_EQ(this->list.get(0), static_cast<T>(this->two[0]));
  EXPECT_EQ(this->list.get(1), T());
}

TYPED_TEST(ListOf, InsertPutsBeforeAPlaceAndGivesTheNewOne) {
  using T = TypeParam;
  const auto place = this->list.insert(this->list.begin() + 1, T());
  EXPECT_EQ(place - this->list.begin(), 1);
  const auto last = this->list.insert(this->list.end(), this->list.get(0));
  EXPECT_EQ(last - this->list.begin(), 3);
  EXPECT_EQ(this->list.vec(), (std::vector<T>{this->two[0], T(), this->two[1], this->two[0]}));
}

TYPED_TEST(ListOf, EraseTakesOneOrARange) {
  using T = TypeParam;
  this->list.append(this->list);
  ASSERT_EQ(this->list.size(), 4u);
  auto behind = this->list.erase(this->list.begin());
  EXPECT_EQ(behind, this->list.begin());
  EXPECT_EQ(this->list.vec(), (std::vector<T>{this->two[1], this->two[0], this->two[1]}));
  behind = this->list.erase(this->list.begin(), this->list.begin() + 2);
  EXPECT_EQ(behind, this->list.begin());
  EXPECT_EQ(this->list.vec(), std::vector<T>{this->two[1]});
  this->list.erase(this->list.begin(), this->list.begin());
  ASSERT_EQ(this->list.size(), 1u);
  behind = this->list.erase(this->list.begin());
  EXPECT_EQ(behind, this->list.end());
  EXPECT_TRUE(this->list.empty());
}

TYPED_TEST(ListOf, ResizeAddsDefaultsOrCopiesAndDropsTheLast) {
  using T = TypeParam;
  this->list.resize(3);
  EXPECT_EQ(this->list.vec(), (std::vector<T>{this->two[0], this->two[1], T()}));
  this->list.resize(1);
  EXPECT_EQ(this->list.vec(), std::vector<T>{this->two[0]});
  this->list.resize(3, this->two[1]);
  EXPECT_EQ(this->list.vec(), (std::vector<T>{this->two[0], this->two[1], this->two[1]}));
  this->list.resize(0);
  EXPECT_TRUE(this->list.empty());
}

TYPED_TEST(ListOf, PopBackTakesTheLast) {
  using T = TypeParam;
  this->list.pop_back();
  EXPECT_EQ(this->list.vec(), std::vector<T>{this->two[0]});
  this->list.pop_back();
  EXPECT_EQ(errorOf([&] { this->list.pop_back(); }), "list index -1 is out of range for a list of 0 elements");
}

TYPED_TEST(ListOf, AMovedFromListIsStillTheSameList) {
  const List<TypeParam> taken = std::move(this->list);
  // NOLINTBEGIN(bugprone-use-after-move): is what is tested
  EXPECT_EQ(this->list.size(), 2u);
  EXPECT_TRUE(this->list.is(taken));
  this->list.push_back(TypeParam());
  EXPECT_EQ(taken.size(), 3u);
  List<TypeParam> assigned;
  assigned = std::move(this->list);
  EXPECT_TRUE(this->list.is(assigned));
  EXPECT_EQ(this->list.vec().size(), 3u);
  // NOLINTEND(bugprone-use-after-move)
}

TYPED_TEST(ListOf, CopiesShareAndCountReferences) {
  EXPECT_EQ(this->list.use_count(), 1u);
  const List<TypeParam> shared = this->list;
  EXPECT_EQ(this->list.use_count(), 2u);
  const List<TypeParam> apart = this->list.copy();
  this->list.clear();
  EXPECT_TRUE(shared.empty());
  EXPECT_EQ(apart.size(), 2u);
}

TEST(ListChange, EmplaceMakesTheElementInPlace) {
  const List<std::string> list{"b"};
  const List<std::string>::const_iterator place = list.emplace(list.begin(), 3, 'a');
  EXPECT_EQ(place - list.begin(), 0);
  list.emplace_back("c");
  EXPECT_EQ(list.vec(), (Strings{"aaa", "b", "c"}));
}

TEST(ListChange, AppendTakesTheElementsOfAnother) {
  const List<int64_t> list{1};
  const List<int64_t> other{2, 3};
  list.append(other);
  EXPECT_EQ(list.vec(), (Ints{1, 2, 3}));
  EXPECT_EQ(other.vec(), (Ints{2, 3}));
  list.append(List<int64_t>());
  EXPECT_EQ(list.size(), 3u);
}

TEST(ListChange, AnElementOfTheListCanBePutIntoIt) {
  List<std::string> list{"a text that is too long to lie inside of a string"};
  for (int i = 0; i < 20; ++i) {
    list.push_back(list[0]);
    list.insert(list.begin(), list[list.size() - 1]);
  }
  for (const std::string& element : std::as_const(list)) EXPECT_EQ(element, list.get(0));
}

TEST(ListChange, TensorsThatLeaveAreReleased) {
  const Tensor tensor = someTensor();
  const auto count = [&] { return tensor.unsafeGetTensorImpl()->useCount(); };
  List<Tensor> list{tensor, tensor, tensor, tensor};
  EXPECT_EQ(count(), 5u);
  EXPECT_TRUE(list.extract(0).is_same(tensor));
  EXPECT_EQ(count(), 4u);
  list[1] = Tensor();
  EXPECT_EQ(count(), 3u);
  list.erase(list.begin() + 2);
  EXPECT_EQ(count(), 2u);
  list.resize(1);
  EXPECT_EQ(count(), 1u);
}

TEST(ListChange, ASpanOfAnyElementsMakesAList) {
  const Strings texts{"a", "b"};
  EXPECT_EQ(List<std::string>(std::span<const std::string>(texts)).vec(), texts);
  const Ints numbers{4, 5};
  EXPECT_EQ(List<int64_t>(std::span<const int64_t>(numbers)).vec(), numbers);
}

}  // namespace
}  // namespace boxcar
