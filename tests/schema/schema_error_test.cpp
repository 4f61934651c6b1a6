#include <gtest/gtest.h>

#include "tests/schema/schema_test_util.h"

namespace boxcar {
namespace {

TEST(SchemaError, TellsPlaceTextAndWhatWasExpected) {
  EXPECT_EQ(errorAgainst("aten::f(Tensor) -> Tensor"),
            "schema, line 1, column 15: expected an argument name, found ')'\n"
            "  aten::f(Tensor) -> Tensor\n"
            "                ^");
}

TEST(SchemaError, CaretsStandUnderTheWholeOffendingText) {
  EXPECT_EQ(errorAgainst("f(int[2] s=[1,2,3]) -> ()"),
            "schema, line 1, column 12: [1,2,3] has 3 elements where int[2] takes 2\n"
            "  f(int[2] s=[1,2,3]) -> ()\n"
            "             ^^^^^^^");
  EXPECT_EQ(errorAgainst("f(Tensor x, int x) -> ()"),
            "schema, line 1, column 17: two arguments are called 'x'\n"
            "  f(Tensor x, int x) -> ()\n"
            "                  ^");
}

TEST(SchemaError, TellsTheLine) {
  EXPECT_EQ(errorAgainst("f(\n  int x,\n\tTensr y\n) -> ()"),
            "schema, line 3, column 2: unknown type Tensr. Did you mean 'Tensor'?\n"
            "  \tTensr y\n"
            "  \t^^^^^");
}

TEST(SchemaError, FirstTokenHasAPlaceToo) {
  EXPECT_EQ(errorAgainst("  (int x) -> ()"),
            "schema, line 1, column 3: expected an operator name, found '('\n"
            "    (int x) -> ()\n"
            "    ^");
  EXPECT_EQ(errorAgainst(""),
            "schema, line 1, column 1: expected an operator name, found the end of the text\n"
            "  \n"
            "  ^");
}

TEST(SchemaError, EndOfTextIsAPlace) {
  EXPECT_EQ(errorAgainst("f(int x"),
            "schema, line 1, column 8: expected ',' or ')', found the end of the text\n"
            "  f(int x\n"
            "         ^");
}

TEST(SchemaError, CountsCharactersNotBytesForTheCaret) {
  EXPECT_EQ(errorAgainst("f(str x='\xC3\xA4\xC3\xB6', int) -> ()"),
            "schema, line 1, column 20: expected an argument name, found ')'\n"
            "  f(str x='\xC3\xA4\xC3\xB6', int) -> ()\n"
            "                   ^");
}

TEST(SchemaError, GivesItsParts) {
  try {
    parseSchema("f(\n  int x, int x\n) -> ()");
    FAIL() << "accepted";
  } catch (const SchemaError& error) {
    EXPECT_EQ(error.reason(), "two arguments are called 'x'");
    EXPECT_EQ(error.offset(), 16u);
    EXPECT_EQ(error.length(), 1u);
    EXPECT_EQ(error.line(), 2u);
    EXPECT_EQ(error.column(), 14u);
    EXPECT_EQ(error.snippet(), "    int x, int x\n               ^");
  }
}

}  // namespace
}  // namespace boxcar
