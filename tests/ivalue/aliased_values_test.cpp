#include <boxcar/ivalue/ivalue.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace boxcar {
namespace {

Tensor someTensor() { return Tensor::allocate(std::vector<int64_t>{4}, ScalarType::Float); }

Tensor halfOf(const Tensor& tensor) { return tensor.view(std::vector<int64_t>{2}, std::vector<int64_t>{1}, 2); }

size_t subValues(const IValue& value) {
  AliasedValues found;
  value.getSubValues(found);
  return found.size();
}

TEST(AliasedValues, PointersAreWhatCopiesShare) {
  EXPECT_TRUE(IValue(someTensor()).isPtrType());
  EXPECT_TRUE(IValue("text").isPtrType());
  EXPECT_TRUE(IValue(List<int64_t>()).isPtrType());
  EXPECT_TRUE(IValue(GenericDict()).isPtrType());
  EXPECT_TRUE(IValue(Tuple(std::vector<IValue>())).isPtrType());
  for (const IValue& value : {IValue(), IValue(1), IValue(true), IValue(1.5), IValue(Device(kCPU)), IValue(Tensor())}) {
    EXPECT_FALSE(value.isPtrType()) << value.tagKind();
  }
}

TEST(AliasedValues, TensorsOnOneStorageAreAliases) {
  const Tensor tensor = someTensor();
  EXPECT_TRUE(IValue(tensor).isAliasOf(IValue(tensor)));
  EXPECT_TRUE(IValue(tensor).isAliasOf(IValue(halfOf(tensor))));
  EXPECT_FALSE(IValue(tensor).isAliasOf(IValue(someTensor())));
  EXPECT_FALSE(IValue(tensor).isAliasOf(IValue(tensor.storage())));
  EXPECT_FALSE(IValue(Tensor()).isAliasOf(IValue(Tensor())));
}

TEST(AliasedValues, OtherObjectsAreAliasesOfThemselves) {
  const List<int64_t> list{1};
  EXPECT_TRUE(IValue(list).isAliasOf(IValue(list)));
  EXPECT_FALSE(IValue(list).isAliasOf(IValue(list.copy())));
  EXPECT_FALSE(IValue(list).isAliasOf(IValue(GenericList())));
  const GenericDict dict;
  EXPECT_TRUE(IValue(dict).isAliasOf(IValue(dict)));
  const IValue text("text");
  EXPECT_TRUE(text.isAliasOf(text));
  EXPECT_FALSE(text.isAliasOf(IValue("text")));
}

TEST(AliasedValues, NumbersHaveNone) {
  EXPECT_FALSE(IValue(1).isAliasOf(IValue(1)));
  EXPECT_FALSE(IValue().isAliasOf(IValue()));
  EXPECT_FALSE(IValue(1.5).isAliasOf(IValue(1)));
}

TEST(AliasedValues, SubValuesAreAllThatIsReached) {
  const Tensor a = someTensor();
  const Tensor b = someTensor();
  EXPECT_EQ(subValues(IValue(1)), 0u);
  EXPECT_EQ(subValues(IValue("text")), 0u);
  EXPECT_EQ(subValues(IValue(Tensor())), 0u);
  EXPECT_EQ(subValues(IValue(a)), 1u);
  EXPECT_EQ(subValues(IValue(List<int64_t>{1, 2})), 1u);
  EXPECT_EQ(subValues(IValue(List<Tensor>{a, b})), 3u);
  EXPECT_EQ(subValues(IValue(List<Tensor>{a, halfOf(a)})), 2u);
  GenericDict dict;
  dict.insert(IValue("a"), IValue(a));
  dict.insert(IValue(b), IValue(Tuple({IValue(a), IValue(List<double>())})));
  EXPECT_EQ(subValues(IValue(dict)), 5u);
}

TEST(AliasedValues, WhatHoldsItselfOrIsDeepIsVisitedOnce) {
  const GenericList itself{IValue(someTensor())};
  itself.push_back(IValue(itself));
  EXPECT_EQ(subValues(IValue(itself)), 2u);
  itself.clear();
  IValue deep(1);
  for (int i = 0; i < 100'000; ++i) deep = IValue(Tuple({deep}));
  EXPECT_EQ(subValues(deep), 100'000u);
}

TEST(AliasedValues, ValuesOverlapWhereTheyShareSomething) {
  const Tensor a = someTensor();
  EXPECT_TRUE(IValue(List<Tensor>{a}).overlaps(IValue(Tuple({IValue(halfOf(a))}))));
  EXPECT_TRUE(IValue(a).overlaps(IValue(a)));
  EXPECT_FALSE(IValue(List<Tensor>{a}).overlaps(IValue(List<Tensor>{someTensor()})));
  EXPECT_FALSE(IValue(1).overlaps(IValue(1)));
  const GenericList shared{IValue(1)};
  EXPECT_TRUE(IValue(Tuple({IValue(shared)})).overlaps(IValue(GenericList{IValue(2), IValue(shared)})));
}

}  // namespace
}  // namespace boxcar
