#include <boxcar/interpreter/runtime/format_value.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/test_support.h"

namespace boxcar::interp {
namespace {

// Formats like Python's format().
std::string format(const IValue& value, std::string_view spec) {
  std::string text;
  const std::string error = errorOf([&] { text = formatValue(value, spec); });
  return error == "no error" ? text : error;
}

TEST(FormatValue, WithoutASpecItIsThePrintedText) {
  EXPECT_EQ(format(1.5, ""), "1.5");
  EXPECT_EQ(format("text", ""), "text");
  EXPECT_EQ(format(List<int64_t>{1}, ""), "[1]");
}

TEST(FormatValue, Ints) {
  EXPECT_EQ(format(42, "5"), "   42");
  EXPECT_EQ(format(42, "<5"), "42   ");
  EXPECT_EQ(format(42, "^5"), " 42  ");
  EXPECT_EQ(format(42, "*>5"), "***42");
  EXPECT_EQ(format(42, "05d"), "00042");
  EXPECT_EQ(format(-42, "05"), "-0042");
  EXPECT_EQ(format(42, "+"), "+42");
  EXPECT_EQ(format(1234567, ","), "1,234,567");
  EXPECT_EQ(format(1234567, "012,"), "0,001,234,567");
  EXPECT_EQ(format(255, "x"), "ff");
  EXPECT_EQ(format(-255, "x"), "-ff");
  EXPECT_EQ(format(true, "d"), "1");
  EXPECT_EQ(format(true, "3"), "  1");
  EXPECT_EQ(format(3, ".2f"), "3.00");
  EXPECT_EQ(format(std::numeric_limits<int64_t>::min(), "x"), "-8000000000000000");
}

TEST(FormatValue, Floats) {
  EXPECT_EQ(format(3.14159, ".2f"), "3.14");
  EXPECT_EQ(format(3.14159, "f"), "3.141590");
  EXPECT_EQ(format(3.14159, "8.3f"), "   3.142");
  EXPECT_EQ(format(-3.14159, "08.2f"), "-0003.14");
  EXPECT_EQ(format(12345.678, ",.1f"), "12,345.7");
  EXPECT_EQ(format(1e10, "e"), "1.000000e+10");
  EXPECT_EQ(format(0.0001, "g"), "0.0001");
  EXPECT_EQ(format(0.00001, "g"), "1e-05");
  EXPECT_EQ(format(0.256, ".1%"), "25.6%");
  EXPECT_EQ(format(2.0, ".3"), "2.0");
  EXPECT_EQ(format(1234.5, ".3"), "1.23e+03");
  EXPECT_EQ(format(std::numeric_limits<double>::infinity(), "6"), "   inf");
  EXPECT_EQ(format(std::numeric_limits<double>::quiet_NaN(), "+.1f"), "+nan");
  EXPECT_EQ(format(1.5, ">8"), "     1.5");
}

TEST(FormatValue, Strings) {
  EXPECT_EQ(format("ab", "5"), "ab   ");
  EXPECT_EQ(format("ab", ">5"), "   ab");
  EXPECT_EQ(format("ab", "é^6"), "ééabéé");
  EXPECT_EQ(format("héllo", ".2"), "hé");
  EXPECT_EQ(format("hé", ".2s"), "hé");
  EXPECT_EQ(format("hello", ".0"), "");
  EXPECT_EQ(format(true, ""), "True");
}

TEST(FormatValue, WhatDoesNotFitIsNamed) {
  EXPECT_EQ(format("a", "d"), "'d' is not a format for str");
  EXPECT_EQ(format(1.5, "d"), "'d' is not a format for float");
  EXPECT_EQ(format(1, "s"), "'s' is not a format for int");
  EXPECT_EQ(format(Tensor(), ".2f"),
            "'f' is not a format for Tensor; it is a format for the number that item() returns");
  EXPECT_EQ(format("a", "+"), "'+' and ',' in a format are for numbers");
  EXPECT_EQ(format(1, ".2d"), "an int has no precision in a format: '.2'");
  EXPECT_EQ(format(1, "q"), "'q' is no format");
}

}  // namespace
}  // namespace boxcar::interp
