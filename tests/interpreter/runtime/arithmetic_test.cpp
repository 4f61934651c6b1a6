#include <boxcar/interpreter/runtime/arithmetic.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/test_support.h"

namespace boxcar::interp {
namespace {

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(Arithmetic, TrueDivisionOfIntsIsRoundedOnce) {
  EXPECT_EQ(divInt(7, 2), 3.5);
  EXPECT_EQ(divInt(-1, 3), -1.0 / 3.0);
  // Python: (2**63 - 1) / 3, 9007199254740993 / 1, (2**63 - 1) / (2**63 - 2)
  EXPECT_EQ(divInt(kMost, 3), 3074457345618258602.0);
  EXPECT_EQ(divInt(9007199254740993, 1), 9007199254740992.0);
  EXPECT_EQ(divInt(9007199254740995, 1), 9007199254740996.0);
  EXPECT_EQ(divInt(kMost, kMost - 1), 1.0);
  EXPECT_EQ(divInt(kLeast, -1), 0x1p63);
  EXPECT_EQ(divInt(kLeast, kMost), -1.0);
  EXPECT_EQ(divInt(1, kMost), 0x1p-63);
  EXPECT_EQ(divInt(0, kLeast), 0.0);
}

TEST(Arithmetic, IntPowersWrap) {
  EXPECT_EQ(powInt(3, 4), 81);
  EXPECT_EQ(powInt(0, 0), 1);
  EXPECT_EQ(powInt(-2, 63), kLeast);
  EXPECT_EQ(powInt(2, 64), 0);
  const auto half = static_cast<uint64_t>(powInt(9, (kMost - 1) / 2));
  EXPECT_EQ(powInt(3, kMost), static_cast<int64_t>(3 * half));
}

TEST(Arithmetic, FloatDivisionFollowsPython) {
  EXPECT_EQ(floorDivFloat(-7.5, 2), -4.0);
  EXPECT_EQ(modFloat(-7.5, 2), 0.5);
  EXPECT_EQ(modFloat(5, -kInf), -kInf);
  EXPECT_EQ(floorDivFloat(5, -kInf), -1.0);
  EXPECT_TRUE(std::signbit(modFloat(4, -2)));
  EXPECT_TRUE(std::signbit(floorDivFloat(-0.0, 2)));
  EXPECT_EQ(floorDivFloat(0.7, 0.1), 6.0);
  EXPECT_EQ(floorDivFloat(1, 0.1), 9.0);
  EXPECT_TRUE(std::isnan(floorDivFloat(kInf, 2)));
}

TEST(Arithmetic, ErrorsArePythonsSentences) {
  EXPECT_EQ(errorOf([] { divInt(1, 0); }), "division by zero");
  EXPECT_EQ(errorOf([] { floorDivInt(1, 0); }), "integer division or modulo by zero");
  EXPECT_EQ(errorOf([] { modInt(1, 0); }), "integer division or modulo by zero");
  EXPECT_EQ(errorOf([] { divFloat(1, 0); }), "float division by zero");
  EXPECT_EQ(errorOf([] { floorDivFloat(1, 0); }), "float floor division by zero");
  EXPECT_EQ(errorOf([] { modFloat(1, -0.0); }), "float modulo by zero");
  EXPECT_EQ(errorOf([] { powInt(2, -1); }), "2 ** -1: an int to a negative power is not an int; write float(2) ** -1");
  EXPECT_EQ(errorOf([] { powFloat(0, -1); }), "0.0 cannot be raised to a negative power");
  EXPECT_EQ(errorOf([] { powFloat(-8, 0.5); }), "(-8.0) ** 0.5 is complex; write (-8.0 + 0j) ** 0.5");
  EXPECT_EQ(errorOf([] { powFloat(10, 400); }), "10.0 ** 400.0 is too large for a float");
  EXPECT_EQ(errorOf([] { shlInt(1, -1); }), "1 << -1: negative shift count");
  EXPECT_EQ(errorOf([] { shrInt(1, -1); }), "1 >> -1: negative shift count");
  EXPECT_EQ(errorOf([] { floatToInt(kNan); }), "cannot convert float nan to int");
  EXPECT_EQ(errorOf([] { floatToInt(kInf); }), "cannot convert float infinity to int");
  EXPECT_EQ(errorOf([] { floatToInt(1e19); }), "1e+19 does not fit an int of 64 bits");
}

TEST(Arithmetic, PowersOfInfinityAndNan) {
  EXPECT_EQ(powFloat(kInf, 2), kInf);
  EXPECT_EQ(powFloat(kNan, 0), 1.0);
  EXPECT_TRUE(std::isnan(powFloat(kNan, 2)));
}

TEST(Arithmetic, FloatsBecomeIntsByTruncation) {
  EXPECT_EQ(floatToInt(2.9), 2);
  EXPECT_EQ(floatToInt(-2.9), -2);
  EXPECT_EQ(floatToInt(-0x1p63), kLeast);
}

TEST(Arithmetic, IntsAndFloatsCompareExactly) {
  EXPECT_EQ(compareIntFloat(9007199254740993, 9007199254740992.0), 1);
  EXPECT_EQ(compareIntFloat(kMost, 0x1p63), -1);
  EXPECT_EQ(compareIntFloat(kLeast, -0x1p63), 0);
  EXPECT_EQ(compareIntFloat(1, 1.5), -1);
  EXPECT_EQ(compareIntFloat(-1, -1.5), 1);
  EXPECT_EQ(compareIntFloat(0, kInf), -1);
  EXPECT_EQ(compareIntFloat(0, -kInf), 1);
  EXPECT_EQ(compareIntFloat(0, kNan), 2);
}

}  // namespace
}  // namespace boxcar::interp
