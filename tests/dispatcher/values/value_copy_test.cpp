#include <boxcar/dispatcher/values/aliasing.h>
#include <boxcar/dispatcher/values/value_copy.h>
#include <boxcar/schema/parse_schema.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/backends/tensor_helpers.h"

namespace boxcar {
namespace {

constexpr int kDeep = 10'000;

IValue wrapped(IValue value, int depth) {
  for (int i = 0; i < depth; ++i) value = i % 2 == 0 ? IValue(Tuple({value})) : IValue(GenericList{value});
  return value;
}

// A list that contains [shared] deep inside its first element and again as its second.
GenericList metDeepFirst(const IValue& shared) { return GenericList{wrapped(shared, 100), shared}; }

TEST(SameBits, LooksAtWhatLiesDeepAndIsShared) {
  EXPECT_TRUE(sameBits(wrapped(floats({1}), kDeep), wrapped(floats({1}), kDeep)));
  EXPECT_FALSE(sameBits(wrapped(floats({1}), kDeep), wrapped(floats({2}), kDeep)));
  EXPECT_TRUE(sameBits(IValue(metDeepFirst(GenericList{1.0})), IValue(metDeepFirst(GenericList{1.0}))));
  EXPECT_FALSE(sameBits(IValue(metDeepFirst(GenericList{1.0})), IValue(metDeepFirst(GenericList{2.0}))));
}

TEST(SameBits, ComparesKeysAndTexts) {
  const auto dictOf = [](std::string key, std::string text) {
    const GenericDict dict;
    dict.insert_or_assign(std::move(key), std::move(text));
    return IValue(dict);
  };
  EXPECT_TRUE(sameBits(dictOf("a", "x"), dictOf("a", "x")));
  EXPECT_FALSE(sameBits(dictOf("a", "x"), dictOf("b", "x")));
  EXPECT_FALSE(sameBits(dictOf("a", "x"), dictOf("a", "y")));
  EXPECT_FALSE(sameBits(dictOf("a", "x"), IValue(GenericDict())));
}

TEST(ValueCopier, CopiesWhatLiesDeepOnce) {
  const Tensor x = floats({1});
  const IValue copy = ValueCopier().copy(metDeepFirst(Tuple({x})));
  IValue inner = copy.elementAt(0);
  for (int i = 0; i < 100; ++i) inner = inner.elementAt(0);
  EXPECT_TRUE(inner.is(copy.elementAt(1)));
  EXPECT_FALSE(inner.elementAt(0).toTensor().is_same(x));
  EXPECT_TRUE(sameBits(inner.elementAt(0).toTensor(), x));
  EXPECT_TRUE(sameBits(ValueCopier().copy(wrapped(x, kDeep)), wrapped(x, kDeep)));
}

TEST(ValueCopier, CopiesATupleThatLiesInManyOnce) {
  IValue tuple = Tuple({floats({1})});
  for (int i = 0; i < 200; ++i) tuple = Tuple({tuple, tuple});
  const IValue copy = ValueCopier().copy(tuple);
  EXPECT_FALSE(copy.is(tuple));
  EXPECT_TRUE(copy.elementAt(0).is(copy.elementAt(1)));
  EXPECT_TRUE(sameBits(copy, tuple));
}

TEST(TensorsOfArguments, NamesEachPlaceInOrderAndEachTensorOnce) {
  const FunctionSchema schema = parseSchema("f(Any x) -> ()");
  const GenericDict dict;
  dict.insert_or_assign("w", IValue(Tuple({floats({2}), floats({3})})));
  const std::vector<IValue> arguments{IValue(GenericList{floats({1}), dict, dict, floats({4})})};
  std::vector<std::string> places;
  for (const PlacedTensor& placed : tensorsOfArguments(schema, arguments)) places.push_back(placed.place);
  EXPECT_EQ(places, (std::vector<std::string>{"argument 'x'[0]", "argument 'x'[1]['w'][0]", "argument 'x'[1]['w'][1]",
                                              "argument 'x'[3]"}));
}

TEST(TensorsOfArguments, FindsWhatLiesDeep) {
  const FunctionSchema schema = parseSchema("f(Any x) -> ()");
  const std::vector<IValue> arguments{wrapped(floats({1}), kDeep)};
  const std::vector<PlacedTensor> found = tensorsOfArguments(schema, arguments);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].place.size(), std::string("argument 'x'").size() + size_t{3} * kDeep);
}

}  // namespace
}  // namespace boxcar
