#include <boxcar/ivalue/enum_holder.h>
#include <boxcar/ivalue/ivalue.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/test_support.h"

namespace boxcar {
namespace {

IntrusivePtr<EnumHolder> colour(const std::string& name, int64_t value) {
  return makeIntrusive<EnumHolder>("__torch__.models.Color", name, IValue(value));
}

TEST(EnumHolder, KnowsItsClassNameAndValue) {
  const auto red = colour("RED", 1);
  EXPECT_EQ(red->qualifiedClassName(), "__torch__.models.Color");
  EXPECT_EQ(red->unqualifiedClassName(), "Color");
  EXPECT_EQ(red->name(), "RED");
  EXPECT_EQ(red->value().toInt(), 1);
  EXPECT_EQ(EnumHolder("Alone", "A", IValue()).unqualifiedClassName(), "Alone");
}

TEST(EnumHolder, IsAValueThatIsEqualByClassAndName) {
  const IValue red(colour("RED", 1));
  EXPECT_TRUE(red.isEnum());
  EXPECT_STREQ(red.tagKind(), "Enum");
  EXPECT_EQ(red.toEnumHolder()->name(), "RED");
  EXPECT_EQ(red.to<IntrusivePtr<EnumHolder>>()->value().toInt(), 1);
  const IValue same(colour("RED", 1));
  EXPECT_EQ(red, same);
  EXPECT_EQ(red.hash(), same.hash());
  EXPECT_FALSE(red.is(same));
  EXPECT_FALSE(red == IValue(colour("BLUE", 2)));
  EXPECT_FALSE(red == IValue(makeIntrusive<EnumHolder>("__torch__.other.Color", "RED", IValue(1))));
  EXPECT_FALSE(red == IValue(1));
  EXPECT_TRUE(IValue(IntrusivePtr<EnumHolder>()).isNone());
  EXPECT_EQ(errorOf([] { IValue(1).toEnumHolder(); }), "expected a value of kind Enum, found Int");
}

TEST(EnumHolder, IsAKeyOfADict) {
  GenericDict dict;
  dict.insert_or_assign(IValue(colour("RED", 1)), IValue("r"));
  dict.insert_or_assign(IValue(colour("RED", 1)), IValue("again"));
  dict.insert_or_assign(IValue(colour("BLUE", 2)), IValue("b"));
  EXPECT_EQ(dict.size(), 2u);
  EXPECT_EQ(dict.at(IValue(colour("RED", 1))).toStringRef(), "again");
}

TEST(EnumHolder, PrintsAsPythonDoes) {
  const IValue red(colour("RED", 1));
  EXPECT_EQ(toString(red), "Color.RED");
  EXPECT_EQ(repr(red), "<Color.RED: 1>");
  EXPECT_EQ(repr(IValue(makeIntrusive<EnumHolder>("M", "A", IValue("text")))), "<M.A: 'text'>");
  EXPECT_EQ(repr(IValue(GenericList{red})), "[<Color.RED: 1>]");
}

}  // namespace
}  // namespace boxcar
