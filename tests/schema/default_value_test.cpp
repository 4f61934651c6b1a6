#include <gtest/gtest.h>

#include <complex>
#include <string>

#include "tests/schema/schema_test_util.h"

namespace boxcar {
namespace {

std::string with(std::string_view argument) { return "f(" + std::string(argument) + ") -> ()"; }
IValue defaultOf(std::string_view argument) { return *parseSchema(with(argument)).arguments().at(0).default_value(); }
void expectRejected(std::string_view argument, std::string_view reason) {
  EXPECT_EQ(reasonAgainst(with(argument)), reason) << argument;
}

TEST(DefaultValue, KeepsItsSpelling) {
  for (const std::string_view argument : {"float x=2",
                                          "float x=1.0",
                                          "float x=1e-05",
                                          "float x=.5",
                                          "float x=1.",
                                          "float x=0.3333333333333333",
                                          "float x=-0.10000000000000001",
                                          "int[] x=[]",
                                          "int[] x=[0,1]",
                                          "int[] x=[0, 1]",
                                          "int[2] x=1",
                                          "int x=-1",
                                          "int x=007",
                                          "Scalar x=1",
                                          "Scalar x=1.5",
                                          "Scalar x=2j",
                                          "Scalar x=True",
                                          "complex x=2j",
                                          "complex x=-1.5j",
                                          "complex x=1",
                                          "complex[] x=[1j,2]",
                                          "bool[3] x=True",
                                          "bool[] x=[True, False]",
                                          "float[2] x=1",
                                          "float[] x=[1,2.5]",
                                          "str x=\"L\"",
                                          "str x='linear'",
                                          "str x=''",
                                          "str x='''it's'''",
                                          "str x=\"\\\"'\\\\\"",
                                          "Device x='cpu'",
                                          "Device? x=\"cuda:1\"",
                                          "ScalarType x=float32",
                                          "ScalarType? x=long",
                                          "Layout x=strided",
                                          "MemoryFormat? x=contiguous_format",
                                          "int x=Mean",
                                          "int? x=None",
                                          "Tensor? x=None",
                                          "Any? x=None",
                                          "Dimname x='N'",
                                          "SymInt[2] x=1",
                                          "ScalarType[] x=[float, long]",
                                          "Stream? x=None",
                                          "t? x=None",
                                          "(int, int)? x=None",
                                          "int[2]? x=None",
                                          "bool? x=False",
                                          "float? x=1"}) {
    EXPECT_EQ(reprinted(with(argument)), with(argument));
  }
}

TEST(DefaultValue, SpacesBehindItAreNoneOfItsText) {
  for (const std::string_view argument : {"int x=1 ", "int x=1 \t", "str x='a' ", "int[] x=[1] "}) {
    const std::string text = toString(parseSchema(with(argument)));
    EXPECT_EQ(text, with(argument.substr(0, argument.find_last_not_of(" \t") + 1)));
  }
}

TEST(DefaultValue, IsSpeltOnOneLine) {
  EXPECT_EQ(reprinted(with("int[] x=[1, # one\n 2]")), with("int[] x=[1,2]"));
  EXPECT_EQ(reprinted(with("float x=- 1e-05")), with("float x=-1e-05"));
  EXPECT_EQ(reprinted(with("str x='''a\nb'''")), with("str x='a\\nb'"));
  EXPECT_EQ(reprinted(with("int x=-\n2")), with("int x=-2"));
}

TEST(DefaultValue, HasTheValueAndKindOfTheType) {
  EXPECT_TRUE(defaultOf("float x=2").isDouble());
  EXPECT_EQ(defaultOf("float x=2").toDouble(), 2.0);
  EXPECT_EQ(defaultOf("float? x=-1").toDouble(), -1.0);
  EXPECT_EQ(defaultOf("float x=0.10000000000000001").toDouble(), 0.1);
  EXPECT_EQ(defaultOf("int x=-9223372036854775808").toInt(), INT64_MIN);
  EXPECT_EQ(defaultOf("int x=9223372036854775807").toInt(), INT64_MAX);
  EXPECT_TRUE(defaultOf("Scalar x=2").isInt());
  EXPECT_TRUE(defaultOf("Scalar x=2.0").isDouble());
  EXPECT_TRUE(defaultOf("Scalar x=1e3").isDouble());
  EXPECT_TRUE(defaultOf("Scalar x=False").isBool());
  EXPECT_EQ(defaultOf("complex x=-2j").toComplexDouble(), std::complex<double>(0, -2));
  EXPECT_EQ(defaultOf("complex x=1.5").toComplexDouble(), std::complex<double>(1.5, 0));
  EXPECT_EQ(defaultOf("Device? x='cuda:1'").toDevice(), Device("cuda:1"));
  EXPECT_EQ(defaultOf("ScalarType x=float").toInt(), static_cast<int64_t>(ScalarType::Float));
  EXPECT_EQ(defaultOf("ScalarType? x=bfloat16").toInt(), static_cast<int64_t>(ScalarType::BFloat16));
  EXPECT_EQ(defaultOf("int x=long").toInt(), static_cast<int64_t>(ScalarType::Long));
  EXPECT_EQ(defaultOf("int x=Mean").toInt(), 1);
  EXPECT_EQ(defaultOf("Layout? x=strided").toInt(), 0);
  EXPECT_TRUE(defaultOf("int[2]? x=None").isNone());
}

TEST(DefaultValue, OneValueStandsForASizedList) {
  EXPECT_EQ(defaultOf("int[3] x=7"), IValue(List<int64_t>{7, 7, 7}));
  EXPECT_EQ(defaultOf("bool[2] x=True"), IValue(List<bool>{true, true}));
  EXPECT_TRUE(defaultOf("float[2] x=1").isDoubleList());
  EXPECT_EQ(defaultOf("int[2] x=[]"), IValue(List<int64_t>{}));
  EXPECT_EQ(defaultOf("int[1] x=[-2,-1]"), IValue(List<int64_t>{-2, -1}));
}

TEST(DefaultValue, StringsHavePythonsEscapes) {
  EXPECT_EQ(defaultOf(R"(str x='\a\b\f\n\r\t\v\\\'\"')").toStringView(), "\a\b\f\n\r\t\v\\'\"");
  EXPECT_EQ(defaultOf(R"(str x='\101\x41\u00e9\U0001f600')").toStringView(), "AA\xC3\xA9\xF0\x9F\x98\x80");
  EXPECT_EQ(defaultOf("str x=\"\"\"a\"b\"\"\"").toStringView(), "a\"b");
  EXPECT_EQ(defaultOf("str x=''").toStringView(), "");
  expectRejected(
      R"(str x='\q')",
      "\\q does not begin an escape: there are \\\\ \\' \\\" \\a \\b \\f \\n \\r \\t \\v, \\ooo with three octal "
      "digits, \\xhh, \\uhhhh and \\Uhhhhhhhh");
  EXPECT_TRUE(reasonAgainst(with(R"(str x='\x4')")).starts_with("\\x does not begin an escape"));
  EXPECT_TRUE(reasonAgainst(with(R"(str x='\ud800')")).starts_with("\\u does not begin an escape"));
  expectRejected("str x='abc", "the string has no closing '");
  expectRejected("str x=\"abc\n\"", "the string has no closing \"");
  expectRejected("str x='''abc'", "the string has no closing '");
}

TEST(DefaultValue, OfAnotherTypeIsRejected) {
  expectRejected("int x=1.5", "1.5 is not a default of type int");
  expectRejected("int x='s'", "'s' is not a default of type int");
  expectRejected("int x=1e3", "1e3 is not a default of type int");
  expectRejected("int x=True", "True is not a default of type int");
  expectRejected("int x=half", "half is not a default of type int");
  expectRejected("int x=2j", "2j is not a default of type int");
  expectRejected("bool x=1", "1 is not a default of type bool");
  expectRejected("float x=Mean", "Mean is not a default of type float");
  expectRejected("float x=2j", "2j is not a default of type float");
  expectRejected("float x=inf", "inf is not a default of type float");
  expectRejected("str x=1", "1 is not a default of type str");
  expectRejected("str x=abc", "abc is not a default of type str");
  expectRejected("ScalarType x=strided", "strided is not a default of type ScalarType");
  expectRejected("Layout x=float", "float is not a default of type Layout");
  expectRejected("Scalar x='1'", "'1' is not a default of type Scalar");
  expectRejected("Device x=cpu", "cpu is not a default of type Device");
  expectRejected("int x=None", "None is not a default of type int: write int? to allow it");
  expectRejected("Tensor x=None", "None is not a default of type Tensor: write Tensor? to allow it");
  expectRejected("int[] s=None", "None is not a default of type int[]: write int[]? to allow it");
  expectRejected("Tensor? x=1", "1 is not a default of type Tensor?: the only one is None");
  expectRejected("int x=[1]", "[1] is not a default of type int");
  expectRejected("int[] x=[1.5]", "1.5 is not a default of type int[]");
  expectRejected("int[] x=[1,None]", "None is not a default of type int[]: write int[]? to allow it");
  expectRejected(
      "int[] x=1",
      "1 is not a default of type int[]: write [1], or a length like int[2], where one value stands for all elements");
  EXPECT_TRUE(reasonAgainst(with("Device x='foo'")).starts_with("device 'foo' has the unknown type 'foo'"));
}

TEST(DefaultValue, OfAnotherLengthIsRejected) {
  expectRejected("int[2] s=[1,2,3]", "[1,2,3] has 3 elements where int[2] takes 2");
  expectRejected("int[2] s=[1]", "[1] has 1 element where int[2] takes 2");
}

TEST(DefaultValue, IsOnlyForTypesThatHaveOne) {
  constexpr std::string_view kRest =
      " has no defaults: only bool, int, float, complex, Scalar, str, Device and lists of bool, int, float or complex "
      "have";
  expectRejected("Tensor[] x=[]", "type Tensor[]" + std::string(kRest));
  expectRejected("str[] x=['a']", "type str[]" + std::string(kRest));
  expectRejected("Scalar[] x=[1]", "type Scalar[]" + std::string(kRest));
  expectRejected("Tensor x=1", "type Tensor" + std::string(kRest));
  expectRejected("t x=1", "type t" + std::string(kRest));
  expectRejected("(int, int) x=[1,2]", "type (int, int)" + std::string(kRest));
  expectRejected("(int, int) x=(1,2)", "expected a default value, found '('");
  expectRejected("Dict(str, int) x={}", "expected a default value, found '{'");
  expectRejected("int[2]? s=[1,1]", "[1,1] is not a default of type int[]?: the only one is None");
}

TEST(DefaultValue, NumbersAreChecked) {
  constexpr std::string_view kNoNumber = " is not a number: write it in decimal digits, like 16, 1.5, 1e-05 or 2j";
  for (const std::string number : {"0x10", "1_000", "1e", "1.5.2", "0b1", "1ej", "1x", "1e-5e-5"}) {
    expectRejected("float x=" + number, number + std::string(kNoNumber));
    expectRejected("int x=" + number, number + std::string(kNoNumber));
  }
  expectRejected("float x=+1.5", "a number cannot have a '+' before it");
  expectRejected("int x=9223372036854775808", "9223372036854775808 does not fit into an int, which has 64 bits");
  expectRejected("int x=-9223372036854775809", "-9223372036854775809 does not fit into an int, which has 64 bits");
  expectRejected("int x=99999999999999999999999",
                 "99999999999999999999999 does not fit into an int, which has 64 bits");
  expectRejected("float x=1e400", "1e400 does not fit into a float");
  expectRejected("int x=-", "expected a default value, found '-'");
}

}  // namespace
}  // namespace boxcar
