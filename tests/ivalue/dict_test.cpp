#include <boxcar/ivalue/ivalue.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "tests/test_support.h"

namespace boxcar {
namespace {

std::vector<std::string> keysOf(const Dict<std::string, int64_t>& dict) {
  std::vector<std::string> keys;
  for (size_t i = 0; i < dict.size(); ++i) keys.push_back(dict.entryAt(i).first);
  return keys;
}

TEST(Dict, FindsWhatWasInserted) {
  Dict<std::string, int64_t> dict;
  EXPECT_TRUE(dict.empty());
  dict.insert_or_assign("one", 1);
  dict.insert_or_assign("two", 2);
  EXPECT_EQ(dict.size(), 2u);
  EXPECT_TRUE(dict.contains("one"));
  EXPECT_FALSE(dict.contains("three"));
  EXPECT_EQ(dict.at("two"), 2);
  EXPECT_EQ(dict.get("one"), 1);
  EXPECT_EQ(dict.get("three"), std::nullopt);
  EXPECT_EQ(errorOf([&] { dict.at("three"); }), "the dict has no key 'three'");
}

TEST(Dict, InsertLeavesAnEntryThatIsThere) {
  const Dict<std::string, int64_t> dict;
  EXPECT_TRUE(dict.insert("one", 1).second);
  EXPECT_FALSE(dict.insert("one", 2).second);
  EXPECT_EQ(dict.at("one"), 1);
  EXPECT_EQ(dict.size(), 1u);
}

TEST(Dict, KeepsTheOrderOfInsertion) {
  Dict<std::string, int64_t> dict;
  for (const char* key : {"z", "a", "m", "b"}) dict.insert_or_assign(key, 0);
  EXPECT_EQ(keysOf(dict), (std::vector<std::string>{"z", "a", "m", "b"}));
  dict.insert_or_assign("a", 5);
  EXPECT_EQ(keysOf(dict), (std::vector<std::string>{"z", "a", "m", "b"}));
  EXPECT_EQ(dict.at("a"), 5);
  EXPECT_EQ(dict.erase("a"), 1u);
  EXPECT_EQ(dict.erase("a"), 0u);
  dict.insert_or_assign("a", 6);
  EXPECT_EQ(keysOf(dict), (std::vector<std::string>{"z", "m", "b", "a"}));
  EXPECT_EQ(dict.entryAt(3), (std::pair<std::string, int64_t>("a", 6)));
}

TEST(Dict, EqualNumbersAreOneKey) {
  GenericDict dict;
  dict.insert_or_assign(IValue(1), IValue("first"));
  dict.insert_or_assign(IValue(1.0), IValue("second"));
  dict.insert_or_assign(IValue(true), IValue("third"));
  dict.insert_or_assign(IValue(std::complex<double>(1, 0)), IValue("fourth"));
  EXPECT_EQ(dict.size(), 1u);
  EXPECT_TRUE(dict.entryAt(0).first.isInt());
  EXPECT_EQ(dict.at(IValue(1)).toStringRef(), "fourth");
  dict.insert_or_assign(IValue(1.5), IValue());
  EXPECT_EQ(dict.size(), 2u);
}

TEST(Dict, NanIsNeverFound) {
  const IValue nan(std::numeric_limits<double>::quiet_NaN());
  GenericDict dict;
  dict.insert_or_assign(nan, IValue(1));
  EXPECT_FALSE(dict.contains(nan));
  dict.insert_or_assign(nan, IValue(2));
  EXPECT_EQ(dict.size(), 2u);
}

TEST(Dict, KeysOfEveryHashableKind) {
  GenericDict dict;
  const Tensor tensor = Tensor::allocate(std::vector<int64_t>{1}, ScalarType::Float);
  const std::vector<IValue> keys = {
      IValue(),
      IValue(2),
      IValue(2.5),
      IValue("text"),
      IValue(std::complex<double>(0, 1)),
      IValue(Device(DeviceType::CUDA, 1)),
      IValue(tensor),
      IValue(Tuple(std::vector<IValue>{IValue(1), IValue("a")})),
  };
  for (size_t i = 0; i < keys.size(); ++i) dict.insert_or_assign(keys[i], IValue(i));
  EXPECT_EQ(dict.size(), keys.size());
  for (size_t i = 0; i < keys.size(); ++i) EXPECT_EQ(dict.at(keys[i]).toInt(), static_cast<int64_t>(i));
  EXPECT_EQ(dict.at(IValue(Tuple(std::vector<IValue>{IValue(1.0), IValue("a")}))).toInt(), 7);
}

TEST(Dict, WhatCannotBeHashedIsNoKey) {
  GenericDict dict;
  dict.insert_or_assign(IValue(1), IValue(1));
  EXPECT_EQ(errorOf([&] { dict.insert_or_assign(IValue(List<int64_t>{1}), IValue()); }),
            "int[] cannot be a key of a dict: it is not hashable. Keys are numbers, strs, None, tensors, devices and "
            "tuples of these");
  EXPECT_EQ(errorOf([&] { dict.contains(IValue(GenericDict())); }),
            "a dict cannot be a key of a dict: it is not hashable. Keys are numbers, strs, None, tensors, devices and "
            "tuples of these");
  EXPECT_EQ(errorOf([&] { dict.erase(IValue(Tuple(std::vector<IValue>{IValue(GenericList())}))); }),
            "a list cannot be a key of a dict: it is not hashable. Keys are numbers, strs, None, tensors, devices and "
            "tuples of these");
  EXPECT_EQ(dict.size(), 1u);
}

TEST(Dict, CopiesAreOneDict) {
  const Dict<std::string, int64_t> first;
  const Dict<std::string, int64_t> second = first;
  second.insert_or_assign("a", 1);
  EXPECT_EQ(first.size(), 1u);
  EXPECT_TRUE(first.is(second));
  const Dict<std::string, int64_t> copy = first.copy();
  EXPECT_FALSE(copy.is(first));
  EXPECT_EQ(copy, first);
  copy.insert_or_assign("a", 2);
  EXPECT_EQ(first.at("a"), 1);
  EXPECT_FALSE(copy == first);
}

TEST(Dict, ComparesEntriesWhateverTheirOrder) {
  Dict<std::string, int64_t> first;
  first.insert_or_assign("a", 1);
  first.insert_or_assign("b", 2);
  Dict<std::string, int64_t> second;
  second.insert_or_assign("b", 2);
  EXPECT_FALSE(first == second);
  second.insert_or_assign("a", 1);
  EXPECT_EQ(first, second);
  EXPECT_EQ(IValue(first), IValue(second));
  second.erase("a");
  second.insert_or_assign("c", 1);
  EXPECT_FALSE(first == second);
}

TEST(Dict, ValuesAreReleased) {
  const Tensor tensor = Tensor::allocate(std::vector<int64_t>{1}, ScalarType::Float);
  const auto count = [&] { return tensor.unsafeGetTensorImpl()->useCount(); };
  {
    Dict<std::string, Tensor> dict;
    dict.insert_or_assign("a", tensor);
    dict.insert_or_assign("b", tensor);
    EXPECT_EQ(count(), 3u);
    dict.insert_or_assign("a", Tensor());
    EXPECT_EQ(count(), 2u);
    dict.erase("b");
    EXPECT_EQ(count(), 1u);
    dict.insert_or_assign("b", tensor);
    dict.clear();
    EXPECT_TRUE(dict.empty());
    EXPECT_EQ(count(), 1u);
    dict.insert_or_assign("b", tensor);
  }
  EXPECT_EQ(count(), 1u);
}

TEST(Dict, ManyEntries) {
  Dict<int64_t, int64_t> dict;
  for (int64_t i = 0; i < 10000; ++i) dict.insert_or_assign(i * 7919, i);
  for (int64_t i = 0; i < 10000; ++i) ASSERT_EQ(dict.at(i * 7919), i);
}

TEST(Dict, ADictInItselfComparesAndIsFreedByHand) {
  GenericDict dict;
  dict.insert_or_assign(IValue("self"), IValue(dict));
  EXPECT_EQ(dict, dict);
  dict.clear();
}

}  // namespace
}  // namespace boxcar
