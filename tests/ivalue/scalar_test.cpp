#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/scalar.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "tests/test_support.h"

namespace boxcar {
namespace {

using Complex = std::complex<double>;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

template <class T>
std::string conversionError(Scalar scalar) {
  return errorOf([&] { scalar.to<T>(); });
}

TEST(Scalar, KeepsTheKindItWasMadeFrom) {
  EXPECT_TRUE(Scalar(true).isBoolean());
  EXPECT_TRUE(Scalar(true).isIntegral(true));
  EXPECT_FALSE(Scalar(true).isIntegral(false));
  EXPECT_TRUE(Scalar(3).isIntegral(false));
  EXPECT_TRUE(Scalar(uint8_t{3}).isIntegral(false));
  EXPECT_TRUE(Scalar(2.5).isFloatingPoint());
  EXPECT_TRUE(Scalar(2.5f).isFloatingPoint());
  EXPECT_TRUE(Scalar(Half(2.5f)).isFloatingPoint());
  EXPECT_TRUE(Scalar(BFloat16(2.5f)).isFloatingPoint());
  EXPECT_TRUE(Scalar(Complex(1, 2)).isComplex());
  EXPECT_TRUE(Scalar(std::complex<float>(1, 2)).isComplex());
  EXPECT_EQ(Scalar(true).type(), ScalarType::Bool);
  EXPECT_EQ(Scalar(3).type(), ScalarType::Long);
  EXPECT_EQ(Scalar(2.5f).type(), ScalarType::Double);
  EXPECT_EQ(Scalar(Complex()).type(), ScalarType::ComplexDouble);
  EXPECT_EQ(Scalar(), Scalar(0));
  EXPECT_EQ(Scalar().type(), ScalarType::Long);
}

TEST(Scalar, RejectsUnsignedNumbersAboveInt64) {
  EXPECT_EQ(Scalar(uint64_t{9223372036854775807u}).toLong(), kMax);
  EXPECT_EQ(errorOf([] { (void)Scalar(uint64_t{9223372036854775808u}); }),
            "9223372036854775808 is too large for a Scalar, whose integers are at most 9223372036854775807");
}

TEST(Scalar, ConvertsWhatFits) {
  EXPECT_EQ(Scalar(300).to<int16_t>(), 300);
  EXPECT_EQ(Scalar(-128).to<int8_t>(), -128);
  EXPECT_EQ(Scalar(2.9).toLong(), 2);
  EXPECT_EQ(Scalar(-2.9).toInt(), -2);
  EXPECT_EQ(Scalar(7).toDouble(), 7.0);
  EXPECT_EQ(Scalar(7).toFloat(), 7.0f);
  EXPECT_EQ(Scalar(true).toLong(), 1);
  EXPECT_EQ(float(Scalar(65504).to<Half>()), 65504.0f);
  EXPECT_EQ(float(Scalar(1e38).to<BFloat16>()), float(BFloat16(1e38f)));
  EXPECT_EQ(Scalar(Complex(3, 0)).toLong(), 3);
  EXPECT_EQ(Scalar(Complex(3, 4)).to<std::complex<float>>(), std::complex<float>(3, 4));
  EXPECT_EQ(Scalar(5).toComplexDouble(), Complex(5, 0));
  EXPECT_EQ(Scalar(1.5).toComplexDouble(), Complex(1.5, 0));
  EXPECT_EQ(Scalar(0x1p62).toLong(), int64_t{1} << 62);
  EXPECT_EQ(Scalar(-0x1p63).toLong(), kMin);
}

TEST(Scalar, BoolIsWhateverIsNotZero) {
  EXPECT_FALSE(Scalar(0).toBool());
  EXPECT_TRUE(Scalar(256).toBool());
  EXPECT_TRUE(Scalar(0.5).toBool());
  EXPECT_TRUE(Scalar(kNaN).toBool());
  EXPECT_FALSE(Scalar(-0.0).toBool());
  EXPECT_TRUE(Scalar(Complex(0, 1)).toBool());
  EXPECT_FALSE(Scalar(Complex(0, 0)).toBool());
}

TEST(Scalar, NegativeIntegersWrapInUint8) {
  EXPECT_EQ(Scalar(-1).to<uint8_t>(), 255);
  EXPECT_EQ(Scalar(-255).to<uint8_t>(), 1);
  EXPECT_EQ(conversionError<uint8_t>(-256), "value cannot be converted to type uint8_t without overflow");
  EXPECT_EQ(conversionError<uint8_t>(-1.0), "value cannot be converted to type uint8_t without overflow");
}

TEST(Scalar, OverflowIsAnErrorThatNamesTheType) {
  EXPECT_EQ(conversionError<uint8_t>(256), "value cannot be converted to type uint8_t without overflow");
  EXPECT_EQ(conversionError<int8_t>(128), "value cannot be converted to type int8_t without overflow");
  EXPECT_EQ(conversionError<int8_t>(-129.0), "value cannot be converted to type int8_t without overflow");
  EXPECT_EQ(conversionError<int16_t>(40000), "value cannot be converted to type int16_t without overflow");
  EXPECT_EQ(conversionError<int32_t>(kMax), "value cannot be converted to type int without overflow");
  EXPECT_EQ(conversionError<int64_t>(0x1p63), "value cannot be converted to type int64_t without overflow");
  EXPECT_EQ(conversionError<int64_t>(kNaN), "value cannot be converted to type int64_t without overflow");
  EXPECT_EQ(conversionError<int64_t>(kInfinity), "value cannot be converted to type int64_t without overflow");
  EXPECT_EQ(conversionError<Half>(65505), "value cannot be converted to type Half without overflow");
  EXPECT_EQ(conversionError<Half>(-1e6), "value cannot be converted to type Half without overflow");
  EXPECT_EQ(conversionError<BFloat16>(1e39), "value cannot be converted to type BFloat16 without overflow");
  EXPECT_EQ(conversionError<float>(1e39), "value cannot be converted to type float without overflow");
  EXPECT_EQ(conversionError<double>(Complex(1, 1)), "value cannot be converted to type double without overflow");
  EXPECT_EQ(conversionError<std::complex<float>>(Complex(0, 1e39)),
            "value cannot be converted to type complex<float> without overflow");
  EXPECT_EQ(conversionError<std::complex<float>>(1e39),
            "value cannot be converted to type complex<float> without overflow");
  EXPECT_TRUE(std::isinf(Scalar(kInfinity).toFloat()));
  EXPECT_TRUE(std::isnan(float(Scalar(kNaN).to<Half>())));
}

TEST(Scalar, EqualityIsThatOfExactValues) {
  EXPECT_EQ(Scalar(true), Scalar(1));
  EXPECT_EQ(Scalar(1), Scalar(1.0));
  EXPECT_EQ(Scalar(1.0), Scalar(Complex(1, 0)));
  EXPECT_EQ(Scalar(Complex(1, 0)), Scalar(true));
  EXPECT_NE(Scalar(1), Scalar(1.5));
  EXPECT_NE(Scalar(1), Scalar(Complex(1, 1)));
  EXPECT_NE(Scalar(kNaN), Scalar(kNaN));
  EXPECT_NE(Scalar(kNaN), Scalar(0));
  EXPECT_NE(Scalar(kMax), Scalar(0x1p63));
  EXPECT_NE(Scalar((int64_t{1} << 53) + 1), Scalar(0x1p53));
  EXPECT_EQ(Scalar(kMin), Scalar(-0x1p63));
  EXPECT_EQ(Scalar(0.0), Scalar(-0.0));
}

TEST(Scalar, NegatesAndConjugates) {
  EXPECT_EQ(-Scalar(3), Scalar(-3));
  EXPECT_EQ((-Scalar(true)).type(), ScalarType::Long);
  EXPECT_EQ(-Scalar(true), Scalar(-1));
  EXPECT_EQ(-Scalar(2.5), Scalar(-2.5));
  EXPECT_EQ(-Scalar(Complex(1, -2)), Scalar(Complex(-1, 2)));
  EXPECT_EQ(-Scalar(kMin), Scalar(kMin));
  EXPECT_EQ(Scalar(Complex(1, 2)).conj(), Scalar(Complex(1, -2)));
  EXPECT_EQ(Scalar(5).conj(), Scalar(5));
}

TEST(Scalar, PrintsAsPythonDoes) {
  EXPECT_EQ(toString(Scalar(5)), "5");
  EXPECT_EQ(toString(Scalar(kMin)), "-9223372036854775808");
  EXPECT_EQ(toString(Scalar(1.0)), "1.0");
  EXPECT_EQ(toString(Scalar(1e-5)), "1e-05");
  EXPECT_EQ(toString(Scalar(-kInfinity)), "-inf");
  EXPECT_EQ(toString(Scalar(true)), "True");
  EXPECT_EQ(toString(Scalar(false)), "False");
  EXPECT_EQ(toString(Scalar(Complex(1, 2))), "(1+2j)");
}

}  // namespace
}  // namespace boxcar
