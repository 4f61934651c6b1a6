#include <boxcar/ivalue/ivalue.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/test_support.h"

namespace boxcar {
namespace {

using Counts = Dict<std::string, int64_t>;
using Entries = std::vector<std::pair<std::string, int64_t>>;

static_assert(std::forward_iterator<Counts::iterator>);

Counts three() {
  Counts dict;
  dict.insert("c", 3);
  dict.insert("a", 1);
  dict.insert("b", 2);
  return dict;
}

Entries entriesOf(const Counts& dict) {
  Entries entries;
  for (const auto& entry : dict) entries.emplace_back(entry.key(), entry.value());
  return entries;
}

TEST(DictIterator, RunsInTheOrderOfInsertion) {
  EXPECT_EQ(entriesOf(three()), (Entries{{"c", 3}, {"a", 1}, {"b", 2}}));
  const Counts empty;
  EXPECT_EQ(empty.begin(), empty.end());
}

TEST(DictIterator, StepsComparesAndPoints) {
  const Counts dict = three();
  auto at = dict.begin();
  EXPECT_EQ(at->key(), "c");
  EXPECT_EQ((*at).value(), 3);
  EXPECT_EQ((at++)->key(), "c");
  EXPECT_EQ((++at)->key(), "b");
  EXPECT_TRUE(dict.begin() < at && at < dict.end() && at != dict.end());
  EXPECT_EQ(dict.end() - dict.begin(), 3);
  EXPECT_EQ(std::distance(dict.begin(), dict.end()), 3);
  EXPECT_EQ(++at, dict.end());
  const auto found = std::find_if(dict.begin(), dict.end(), [](const auto& entry) { return entry.value() == 1; });
  EXPECT_EQ(found->key(), "a");
}

TEST(DictIterator, SetsValues) {
  const Counts dict = three();
  dict.begin()->setValue(30);
  for (auto& entry : dict) entry.setValue(entry.value() + 1);
  EXPECT_EQ(entriesOf(dict), (Entries{{"c", 31}, {"a", 2}, {"b", 3}}));
}

TEST(DictIterator, FindGivesTheEntryOrTheEnd) {
  const Counts dict = three();
  EXPECT_EQ(dict.find("a")->value(), 1);
  EXPECT_EQ(dict.find("a") - dict.begin(), 1);
  EXPECT_EQ(dict.find("none"), dict.end());
  dict.find("b")->setValue(7);
  EXPECT_EQ(dict.at("b"), 7);
  EXPECT_EQ(Counts().find("a"), Counts().end());
}

TEST(DictIterator, InsertTellsWhereTheEntryIsAndWhetherItIsNew) {
  const Counts dict = three();
  const auto [fresh, is_new] = dict.insert("d", 4);
  EXPECT_TRUE(is_new);
  EXPECT_EQ(fresh->key(), "d");
  const auto [old, is_new_again] = dict.insert("a", 100);
  EXPECT_FALSE(is_new_again);
  EXPECT_EQ(old->value(), 1);
  EXPECT_EQ(old, dict.find("a"));
  const auto [assigned, was_new] = dict.insert_or_assign("a", 100);
  EXPECT_FALSE(was_new);
  EXPECT_EQ(assigned->value(), 100);
  EXPECT_TRUE(dict.insert_or_assign("e", 5).second);
  EXPECT_EQ(entriesOf(dict), (Entries{{"c", 3}, {"a", 100}, {"b", 2}, {"d", 4}, {"e", 5}}));
}

TEST(DictIterator, ErasesByKeyAndByPlace) {
  const Counts dict = three();
  EXPECT_EQ(dict.erase("none"), 0u);
  EXPECT_EQ(dict.erase("a"), 1u);
  dict.erase(dict.find("c"));
  EXPECT_EQ(entriesOf(dict), (Entries{{"b", 2}}));
  EXPECT_FALSE(dict.contains("c"));
  EXPECT_TRUE(dict.insert("c", 9).second);
  EXPECT_EQ(entriesOf(dict), (Entries{{"b", 2}, {"c", 9}}));
  dict.erase(dict.begin());
  dict.erase(dict.begin());
  EXPECT_TRUE(dict.empty());
}

TEST(DictIterator, InsertingLeavesIteratorsWhereTheyAre) {
  const Counts dict = three();
  const auto at = dict.find("a");
  dict.reserve(1000);
  for (int64_t i = 0; i < 1000; ++i) dict.insert("key " + std::to_string(i), i);
  EXPECT_EQ(at->key(), "a");
  EXPECT_EQ(at->value(), 1);
}

TEST(DictIterator, ReserveChangesNothingThatIsSeen) {
  const Counts dict = three();
  dict.reserve(0);
  dict.reserve(5000);
  EXPECT_EQ(entriesOf(dict), (Entries{{"c", 3}, {"a", 1}, {"b", 2}}));
}

TEST(DictIterator, AMovedFromDictIsStillTheSameDict) {
  Counts dict = three();
  // NOLINTBEGIN(bugprone-use-after-move, performance-move-const-arg): are what is tested
  const Counts taken = std::move(dict);
  EXPECT_TRUE(dict.is(taken));
  EXPECT_EQ(dict.size(), 3u);
  dict.insert("d", 4);
  EXPECT_EQ(taken.at("d"), 4);
  Counts assigned;
  assigned = std::move(dict);
  EXPECT_TRUE(dict.is(assigned));
  EXPECT_TRUE(dict.contains("d"));
  // NOLINTEND(bugprone-use-after-move, performance-move-const-arg)
  EXPECT_EQ(taken.use_count(), 3u);
}

TEST(DictIterator, ACopyIsADictOfItsOwn) {
  const Counts dict = three();
  const Counts copy = dict.copy();
  copy.begin()->setValue(-1);
  copy.erase("a");
  EXPECT_EQ(entriesOf(dict), (Entries{{"c", 3}, {"a", 1}, {"b", 2}}));
  EXPECT_EQ(entriesOf(copy), (Entries{{"c", -1}, {"b", 2}}));
}

TEST(DictIterator, AMissingKeyIsOutOfRange) {
  const Counts dict = three();
  EXPECT_THROW(dict.at("z"), std::out_of_range);
  EXPECT_EQ(errorOf([&] { dict.at("z"); }), "the dict has no key 'z'");
}

TEST(DictIterator, KeysAndValuesOfEveryKind) {
  const Tensor tensor = Tensor::allocate(std::vector<int64_t>{1}, ScalarType::Float);
  Dict<int64_t, List<std::string>> lists;
  lists.insert(5, List<std::string>{"a"});
  lists.begin()->value().push_back("b");
  EXPECT_EQ(lists.at(5).size(), 2u);
  Dict<Tensor, Dict<std::string, Tensor>> nested;
  Dict<std::string, Tensor> inner;
  inner.insert("t", tensor);
  nested.insert(tensor, inner);
  EXPECT_TRUE(nested.find(tensor)->value().at("t").is_same(tensor));
  GenericDict any;
  any.insert(IValue(1), IValue("one"));
  any.insert(IValue("two"), IValue(2));
  EXPECT_TRUE(any.begin()->key().isInt() && (++any.begin())->value().isInt());
}

}  // namespace
}  // namespace boxcar
