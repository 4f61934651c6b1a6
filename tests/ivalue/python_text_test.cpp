#include <boxcar/ivalue/python_text.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <random>

namespace boxcar {
namespace {

TEST(PythonText, FloatsPrintAsRepr) {
  const std::pair<double, const char*> cases[] = {
      {0.0, "0.0"},
      {-0.0, "-0.0"},
      {1.0, "1.0"},
      {0.1, "0.1"},
      {2.5, "2.5"},
      {100000.0, "100000.0"},
      {1e15, "1000000000000000.0"},
      {9999999999999998.0, "9999999999999998.0"},
      {1e16, "1e+16"},
      {123456789012345680.0, "1.2345678901234568e+17"},
      {1e20, "1e+20"},
      {1e100, "1e+100"},
      {1e-4, "0.0001"},
      {0.00012345, "0.00012345"},
      {1e-5, "1e-05"},
      {3e-7, "3e-07"},
      {-1234567890123456.0, "-1234567890123456.0"},
      {1.0 / 3, "0.3333333333333333"},
      {5e-324, "5e-324"},
      {1.7976931348623157e308, "1.7976931348623157e+308"},
      {INFINITY, "inf"},
      {-INFINITY, "-inf"},
      {NAN, "nan"},
      {-NAN, "nan"},
  };
  for (const auto& [value, text] : cases) EXPECT_EQ(pythonFloat(value), text);
}

TEST(PythonText, FloatsReadBackAsThemselves) {
  std::mt19937_64 random(4);
  for (int i = 0; i < 20000; ++i) {
    const auto value = std::bit_cast<double>(random());
    if (!std::isfinite(value)) continue;
    ASSERT_EQ(std::strtod(pythonFloat(value).c_str(), nullptr), value);
  }
}

TEST(PythonText, ComplexNumbersPrintAsRepr) {
  EXPECT_EQ(pythonComplex({1, 2}), "(1+2j)");
  EXPECT_EQ(pythonComplex({0, 2}), "2j");
  EXPECT_EQ(pythonComplex({0, -1}), "-1j");
  EXPECT_EQ(pythonComplex({-0.0, 1}), "(-0+1j)");
  EXPECT_EQ(pythonComplex({0, -0.0}), "-0j");
  EXPECT_EQ(pythonComplex({1, -0.0}), "(1-0j)");
  EXPECT_EQ(pythonComplex({1.5, -2.5}), "(1.5-2.5j)");
  EXPECT_EQ(pythonComplex({1e16, 1e-5}), "(1e+16+1e-05j)");
  EXPECT_EQ(pythonComplex({NAN, NAN}), "(nan+nanj)");
  EXPECT_EQ(pythonComplex({1, INFINITY}), "(1+infj)");
  EXPECT_EQ(pythonComplex({1, -INFINITY}), "(1-infj)");
}

TEST(PythonText, BooleansAreCapitalised) {
  EXPECT_EQ(pythonBool(true), "True");
  EXPECT_EQ(pythonBool(false), "False");
}

TEST(PythonText, StringsAreQuotedAsRepr) {
  EXPECT_EQ(pythonStringRepr(""), "''");
  EXPECT_EQ(pythonStringRepr("a"), "'a'");
  EXPECT_EQ(pythonStringRepr("it's"), R"("it's")");
  EXPECT_EQ(pythonStringRepr(R"(say "hi")"), R"('say "hi"')");
  EXPECT_EQ(pythonStringRepr(R"(both ' and ")"), R"('both \' and "')");
  EXPECT_EQ(pythonStringRepr("tab\t\n\r\\"), R"('tab\t\n\r\\')");
  EXPECT_EQ(pythonStringRepr(std::string_view("\0\x1f\x7f", 3)), R"('\x00\x1f\x7f')");
}

TEST(PythonText, VisibleUtf8IsKept) {
  EXPECT_EQ(pythonStringRepr("é日本😀"), "'é日本😀'");
  EXPECT_EQ(pythonStringRepr("\u00a0\u200b\u2028\ufeff\ue000"), R"('\xa0\u200b\u2028\ufeff\ue000')");
  EXPECT_EQ(pythonStringRepr("\u0085\u00ad"), R"('\x85\xad')");
  EXPECT_EQ(pythonStringRepr("\U000e0001"), R"('\U000e0001')");
}

TEST(PythonText, BytesThatAreNoUtf8AreEscaped) {
  EXPECT_EQ(pythonStringRepr("a\xff"), R"('a\xff')");
  EXPECT_EQ(pythonStringRepr("\xc3"), R"('\xc3')");
  EXPECT_EQ(pythonStringRepr("\xc3(x"), R"('\xc3(x')");
  EXPECT_EQ(pythonStringRepr("\xc0\x80"), R"('\xc0\x80')");                  // overlong
  EXPECT_EQ(pythonStringRepr("\xe0\x80\x80"), R"('\xe0\x80\x80')");          // overlong
  EXPECT_EQ(pythonStringRepr("\xed\xa0\x80"), R"('\xed\xa0\x80')");          // surrogate
  EXPECT_EQ(pythonStringRepr("\xf4\x90\x80\x80"), R"('\xf4\x90\x80\x80')");  // above U+10FFFF
}

TEST(PythonText, NearestNamesComeNearestFirst) {
  using Names = std::vector<std::string_view>;
  const Names candidates = {"relu", "elu", "selu", "gelu", "sigmoid", "add"};
  EXPECT_EQ(nearestNames("reul", candidates), (Names{"relu"}));  // two letters swapped
  EXPECT_EQ(nearestNames("RELU", candidates), (Names{"relu", "elu", "selu"}));
  EXPECT_EQ(nearestNames("RELU", candidates, 1), (Names{"relu"}));
  EXPECT_EQ(nearestNames("sigmod", candidates), (Names{"sigmoid"}));
  EXPECT_EQ(nearestNames("matmul", candidates), Names{});
  EXPECT_EQ(nearestNames("", candidates), Names{});
  EXPECT_EQ(nearestNames("a", Names{"b"}), Names{});
  // A built-in and an operator may have one name.
  EXPECT_EQ(nearestNames("sizes", Names{"size", "resize", "size"}), (Names{"size"}));
}

TEST(PythonText, DidYouMeanReadsAsASentence) {
  const std::vector<std::string_view> candidates = {"relu", "elu", "selu"};
  EXPECT_EQ(didYouMean("rellu", candidates), " Did you mean 'relu'?");
  EXPECT_EQ(didYouMean("relu", candidates), " Did you mean 'relu', 'elu' or 'selu'?");
  EXPECT_EQ(didYouMean("elu", std::vector<std::string_view>{"elu", "selu"}), " Did you mean 'elu' or 'selu'?");
  EXPECT_EQ(didYouMean("conv2d", candidates), "");
}

}  // namespace
}  // namespace boxcar
