#include <boxcar/schema/alias_info.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/schema/schema_test_util.h"
#include "tests/test_support.h"

namespace boxcar {
namespace {

AliasInfoPtr aliasOf(std::string_view type) {
  return parseSchema("f(" + std::string(type) + " x) -> ()").arguments().at(0).alias_info();
}
using Sets = std::vector<std::string>;

TEST(AliasInfo, TellsItsSets) {
  const AliasInfoPtr alias = aliasOf("Tensor(b|a! -> a|*)");
  EXPECT_EQ(alias->beforeSets(), (Sets{"b", "a"}));
  EXPECT_EQ(alias->afterSets(), (Sets{"a", "*"}));
  EXPECT_TRUE(alias->isWrite());
  EXPECT_FALSE(alias->isWildcardBefore());
  EXPECT_TRUE(alias->isWildcardAfter());
  EXPECT_EQ(toString(*alias), "(b|a! -> a|*)");
  EXPECT_EQ(aliasOf("Tensor(a)")->afterSets(), Sets{"a"});
  EXPECT_EQ(aliasOf("Tensor"), nullptr);
}

TEST(AliasInfo, IsMadeOnce) {
  EXPECT_EQ(aliasOf("Tensor(a!)"), aliasOf("int[](a!)"));
  EXPECT_EQ(aliasOf("Tensor(a -> a)"), aliasOf("Tensor(a)"));
  EXPECT_NE(aliasOf("Tensor(a|b)"), aliasOf("Tensor(b|a)"));
  EXPECT_EQ(aliasOf("Tensor(a!)[]"), aliasOf("Tensor(a!)[2]?"));
}

TEST(AliasInfo, MirrorsTheTypeWithoutOptionals) {
  const AliasInfoPtr alias = aliasOf("(Tensor(a)?[](b), int, Tensor(c!))");
  ASSERT_EQ(alias->containedTypes().size(), 3u);
  EXPECT_EQ(alias->text(), "");
  EXPECT_TRUE(alias->isWrite());
  EXPECT_FALSE(alias->isWriteHere());
  EXPECT_EQ(alias->containedAt(0)->text(), "(b)");
  EXPECT_EQ(alias->containedAt(0)->containedAt(0)->text(), "(a)");
  EXPECT_EQ(alias->containedAt(1), nullptr);
  EXPECT_EQ(alias->containedAt(2), aliasOf("Tensor(c!)"));
  EXPECT_EQ(alias->containedAt(3), nullptr);
  EXPECT_EQ(toString(parseType("(Tensor?[], int, Tensor)"), alias), "(Tensor(a)?[](b), int, Tensor(c!))");
}

TEST(AliasInfo, ErrorsNameTheSet) {
  const std::string_view sets[] = {"a b"};
  EXPECT_EQ(errorOf([&] { AliasInfo::of(sets, false); }), "'a b' cannot name an alias set: use a word or '*'");
}

}  // namespace
}  // namespace boxcar
