#include <boxcar/interpreter/syntax/literals.h>
#include <gtest/gtest.h>

#include <cmath>

#include "syntax_text.h"

namespace boxcar::syntax {
namespace {

uint64_t integer(std::string_view text) {
  const NumberLiteral number = readNumber(text);
  EXPECT_EQ(number.kind, TokenKind::Int) << text;
  EXPECT_EQ(number.error, "") << text;
  EXPECT_EQ(number.length, text.size()) << text;
  return number.integer;
}

double real(std::string_view text, TokenKind kind = TokenKind::Float) {
  const NumberLiteral number = readNumber(text);
  EXPECT_EQ(number.kind, kind) << text;
  EXPECT_EQ(number.error, "") << text;
  EXPECT_EQ(number.length, text.size()) << text;
  return number.real;
}

TEST(Literals, IntegersOfEveryBase) {
  EXPECT_EQ(integer("0"), 0u);
  EXPECT_EQ(integer("00"), 0u);
  EXPECT_EQ(integer("12"), 12u);
  EXPECT_EQ(integer("1_000"), 1000u);
  EXPECT_EQ(integer("0xff"), 255u);
  EXPECT_EQ(integer("0XF_f"), 255u);
  EXPECT_EQ(integer("0x_ff"), 255u);
  EXPECT_EQ(integer("0b101"), 5u);
  EXPECT_EQ(integer("0o17"), 15u);
  EXPECT_EQ(integer("9223372036854775807"), 9223372036854775807u);
  EXPECT_EQ(integer("9223372036854775808"), 9223372036854775808u);  // the lexer checks for the minus sign
  EXPECT_EQ(integer("0x7fffffffffffffff"), 9223372036854775807u);
}

TEST(Literals, FloatsAndImaginaries) {
  EXPECT_EQ(real("1.5"), 1.5);
  EXPECT_EQ(real("1."), 1.0);
  EXPECT_EQ(real(".5"), 0.5);
  EXPECT_EQ(real("1e-3"), 1e-3);
  EXPECT_EQ(real("1E5"), 1e5);
  EXPECT_EQ(real("1.e+5"), 1e5);
  EXPECT_EQ(real("1_0.2_5e1_0"), 10.25e10);
  EXPECT_EQ(real("007.5"), 7.5);
  EXPECT_EQ(real("2j", TokenKind::Imaginary), 2.0);
  EXPECT_EQ(real("1.5e2J", TokenKind::Imaginary), 150.0);
  EXPECT_EQ(real("2.j", TokenKind::Imaginary), 2.0);
}

TEST(Literals, FloatsThatADoubleCannotHold) {
  EXPECT_EQ(real("1e999"), INFINITY);
  EXPECT_EQ(real("1e-999"), 0.0);
  EXPECT_EQ(real("0.00001e400"), INFINITY);
  EXPECT_EQ(real("100000e-400"), 0.0);
  EXPECT_EQ(real("1e99999999999999999999"), INFINITY);
  EXPECT_EQ(real("1e-99999999999999999999"), 0.0);
  EXPECT_EQ(real("0e99999999999999999999"), 0.0);
  EXPECT_EQ(real(std::string(400, '9') + "."), INFINITY);
  EXPECT_EQ(real("0." + std::string(400, '0') + "1"), 0.0);
}

TEST(Literals, ANumberEndsWhereAMethodOrARangeBegins) {
  EXPECT_EQ(readNumber("5.abs()").length, 1u);
  EXPECT_EQ(readNumber("5.e()").length, 1u);
  EXPECT_EQ(readNumber("1...").length, 1u);
  EXPECT_EQ(readNumber("1:2").length, 1u);
  EXPECT_EQ(readNumber("1.5.abs()").length, 3u);
}

TEST(Literals, WhatIsNoNumberIsNamed) {
  for (const char* bad :
       {"12abc", "0x", "0xg", "0b2", "0o8", "1__0", "1_", "1_.5", "1e5_", "0x1_", "0b", "2jj", "1e"}) {
    const NumberLiteral number = readNumber(bad);
    EXPECT_EQ(number.error, fmt::format("`{}` is not a number", bad));
    EXPECT_EQ(number.length, std::string_view(bad).size());
  }
  EXPECT_EQ(readNumber("1" + std::string(50, 'a')).error, "`1" + std::string(39, 'a') + "...` is not a number");
  EXPECT_EQ(readNumber("012").error, "an integer cannot begin with 0; write octal as 0o17");
  for (const char* large : {"9223372036854775809", "0xffffffffffffffff", "99999999999999999999999999"}) {
    EXPECT_EQ(readNumber(large).error,
              "this integer does not fit in 64 bits (the largest is 9223372036854775807); write a float, as in 1e20");
  }
}

std::string escape(std::string_view text) {
  std::string out;
  const Escape read = readEscape(text, out);
  return read.error.empty() ? out : fmt::format("{}: {}", read.length, read.error);
}

TEST(Literals, EscapesAreThoseOfPython) {
  EXPECT_EQ(escape("\\n"), "\n");
  EXPECT_EQ(escape("\\a") + escape("\\b") + escape("\\f") + escape("\\r") + escape("\\t") + escape("\\v"),
            "\a\b\f\r\t\v");
  EXPECT_EQ(escape("\\\\") + escape("\\'") + escape("\\\""), "\\'\"");
  EXPECT_EQ(escape("\\\n"), "");
  EXPECT_EQ(escape("\\\r\n"), "");
  EXPECT_EQ(escape("\\x41g"), "A");
  EXPECT_EQ(escape("\\xe9"), "é");
  EXPECT_EQ(escape("\\u20AC"), "€");
  EXPECT_EQ(escape("\\U0001F600"), "😀");
  EXPECT_EQ(escape("\\101"), "A");
  EXPECT_EQ(escape("\\1019"), "A");
  EXPECT_EQ(escape("\\0"), std::string(1, '\0'));
  EXPECT_EQ(escape("\\777"), "ǿ");
}

TEST(Literals, BadEscapesSayWhatIsMissing) {
  EXPECT_EQ(escape("\\q"), "2: `\\q` is not an escape; write a backslash as `\\\\`");
  EXPECT_EQ(escape("\\€"), "4: `\\€` is not an escape; write a backslash as `\\\\`");
  EXPECT_EQ(escape("\\"), "1: `\\` is not an escape; write a backslash as `\\\\`");
  EXPECT_EQ(escape("\\x4"), "3: `\\x` takes 2 hexadecimal digits");
  EXPECT_EQ(escape("\\u12"), "4: `\\u` takes 4 hexadecimal digits");
  EXPECT_EQ(escape("\\Ux"), "2: `\\U` takes 8 hexadecimal digits");
  EXPECT_EQ(escape("\\ud800"), "6: `\\ud800` is not a Unicode character");
  EXPECT_EQ(escape("\\U00110000"), "10: `\\U00110000` is not a Unicode character");
  EXPECT_EQ(escape("\\N{DASH}"), "2: characters have no names here; write the code point, as in `\\u00e9`");
}

TEST(Literals, FormatsHaveEveryPart) {
  const std::optional<FormatSpec> spec = readFormatSpec("*^+012,.3f");
  ASSERT_TRUE(spec);
  EXPECT_EQ(spec->fill, "*");
  EXPECT_EQ(spec->align, '^');
  EXPECT_TRUE(spec->plus);
  EXPECT_TRUE(spec->zero);
  EXPECT_EQ(spec->width, 12u);
  EXPECT_TRUE(spec->comma);
  EXPECT_EQ(spec->precision, 3u);
  EXPECT_EQ(spec->type, 'f');
}

TEST(Literals, FormatsNeedNoPart) {
  for (const char* good : {"",  "<20", ">6", "é>3", "<<", "+", "05", "0",    ",",      ".3",
                           "d", "e",   "f",  "g",   "x",  "s", "%",  "+.2f", ">+8.1%", "9999.9999f"}) {
    const std::optional<FormatSpec> spec = readFormatSpec(good);
    ASSERT_TRUE(spec) << good;
    EXPECT_EQ(SyntaxText{*Source::create("", "")}(*spec), good);
  }
}

TEST(Literals, OtherFormatsAreNone) {
  for (const char* bad : {"=5", "-5", " 5", "#x", "_", "b", "o", "5d5", ".f", ".", "10000", ".10000", "99999999999",
                          "{w}", "<>>", "d ", "ff"}) {
    EXPECT_FALSE(readFormatSpec(bad)) << bad;
  }
  EXPECT_FALSE(readFormatSpec(std::string_view("\0", 1)));
}

}  // namespace
}  // namespace boxcar::syntax
