#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/scalar_type.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/test_support.h"

namespace boxcar {
namespace {

TEST(ScalarType, HasShortNames) {
  EXPECT_EQ(dtypeName(kFloat), "float32");
  EXPECT_EQ(dtypeName(kLong), "int64");
  EXPECT_EQ(dtypeName(kByte), "uint8");
  EXPECT_EQ(dtypeName(kBool), "bool");
  EXPECT_EQ(dtypeName(kBFloat16), "bfloat16");
  EXPECT_EQ(dtypeName(kComplexDouble), "complex128");
}

using enum ScalarType;

constexpr ScalarType kSupported[] = {
    Bool,  Byte,   Char,         Short,        Int, Long, ScalarType::Half, ScalarType::BFloat16,
    Float, Double, ComplexFloat, ComplexDouble};

TEST(ScalarType, HasItsNumbers) {
  EXPECT_EQ(static_cast<int>(Byte), 0);
  EXPECT_EQ(static_cast<int>(Char), 1);
  EXPECT_EQ(static_cast<int>(Short), 2);
  EXPECT_EQ(static_cast<int>(Int), 3);
  EXPECT_EQ(static_cast<int>(Long), 4);
  EXPECT_EQ(static_cast<int>(ScalarType::Half), 5);
  EXPECT_EQ(static_cast<int>(Float), 6);
  EXPECT_EQ(static_cast<int>(Double), 7);
  EXPECT_EQ(static_cast<int>(ComplexHalf), 8);
  EXPECT_EQ(static_cast<int>(ComplexFloat), 9);
  EXPECT_EQ(static_cast<int>(ComplexDouble), 10);
  EXPECT_EQ(static_cast<int>(Bool), 11);
  EXPECT_EQ(static_cast<int>(ScalarType::BFloat16), 15);
}

TEST(ScalarType, HasTwoNamesAndParses) {
  const char* names[][3] = {
      {"Bool", "bool", "bool"},
      {"Byte", "uint8", "byte"},
      {"Char", "int8", "char"},
      {"Short", "int16", "short"},
      {"Int", "int32", "int"},
      {"Long", "int64", "long"},
      {"Half", "float16", "half"},
      {"BFloat16", "bfloat16", "bfloat16"},
      {"Float", "float32", "float"},
      {"Double", "float64", "double"},
      {"ComplexFloat", "complex64", "cfloat"},
      {"ComplexDouble", "complex128", "cdouble"},
  };
  for (size_t i = 0; i < std::size(kSupported); ++i) {
    EXPECT_EQ(toString(kSupported[i]), names[i][0]);
    EXPECT_EQ(dtypeName(kSupported[i]), names[i][1]);
    EXPECT_EQ(parseDtype(names[i][1]), kSupported[i]);
    EXPECT_EQ(parseDtype(names[i][2]), kSupported[i]);
    EXPECT_EQ(parseDtype("torch." + std::string(names[i][1])), kSupported[i]);
  }
  EXPECT_EQ(toString(Undefined), "Undefined");
  EXPECT_EQ(toString(ComplexHalf), "ComplexHalf");
  for (const char* none : {"", "Float", "complex32", "undefined", "float33", "torch."}) {
    EXPECT_EQ(parseDtype(none), std::nullopt) << none;
  }
}

TEST(ScalarType, SizesAndKindsAreThoseOfTheCppTypes) {
  for (const ScalarType type : kSupported) {
    visitScalarType(kAllTypes, type, "test", [&](auto tag) {
      using T = typename decltype(tag)::type;
      EXPECT_EQ(elementSize(type), sizeof(T)) << toString(type);
      EXPECT_EQ(scalarTypeOf<T>, type);
      EXPECT_EQ(isIntegralType(type, true), std::is_integral_v<T>);
      EXPECT_EQ(isIntegralType(type, false), std::is_integral_v<T> && type != Bool);
      EXPECT_EQ(isComplexType(type), type == ComplexFloat || type == ComplexDouble);
      EXPECT_EQ(isFloatingType(type), !isIntegralType(type, true) && !isComplexType(type));
    });
  }
  static_assert(std::is_same_v<CppTypeOf<ScalarType::BFloat16>, boxcar::BFloat16>);
  EXPECT_EQ(elementSize(ComplexHalf), 4u);
  EXPECT_EQ(elementSize(Undefined), 0u);
  EXPECT_FALSE(isSignedType(Byte));
  EXPECT_FALSE(isSignedType(Bool));
  EXPECT_TRUE(isSignedType(Char));
}

TEST(ScalarType, RealAndComplexTypesCorrespond) {
  EXPECT_EQ(toRealValueType(ComplexHalf), ScalarType::Half);
  EXPECT_EQ(toRealValueType(ComplexFloat), Float);
  EXPECT_EQ(toRealValueType(ComplexDouble), Double);
  EXPECT_EQ(toRealValueType(Long), Long);
  EXPECT_EQ(toComplexType(ScalarType::Half), ComplexHalf);
  EXPECT_EQ(toComplexType(ScalarType::BFloat16), ComplexFloat);
  EXPECT_EQ(toComplexType(Float), ComplexFloat);
  EXPECT_EQ(toComplexType(Double), ComplexDouble);
  EXPECT_EQ(toComplexType(ComplexDouble), ComplexDouble);
  EXPECT_EQ(toComplexType(Long), ComplexFloat);
  EXPECT_EQ(toComplexType(Undefined), Undefined);
}

TEST(ScalarType, PromotesByTheTable) {
  constexpr ScalarType u1 = Byte, i1 = Char, i2 = Short, i4 = Int, i8 = Long, f2 = ScalarType::Half, f4 = Float,
                       f8 = Double, c2 = ComplexHalf, c4 = ComplexFloat, c8 = ComplexDouble, b1 = Bool,
                       bf = ScalarType::BFloat16;
  constexpr ScalarType order[] = {u1, i1, i2, i4, i8, f2, f4, f8, c2, c4, c8, b1, bf};
  constexpr ScalarType table[13][13] = {
      /*        u1  i1  i2  i4  i8  f2  f4  f8  c2  c4  c8  b1  bf */
      /* u1 */ {u1, i2, i2, i4, i8, f2, f4, f8, c2, c4, c8, u1, bf},
      /* i1 */ {i2, i1, i2, i4, i8, f2, f4, f8, c2, c4, c8, i1, bf},
      /* i2 */ {i2, i2, i2, i4, i8, f2, f4, f8, c2, c4, c8, i2, bf},
      /* i4 */ {i4, i4, i4, i4, i8, f2, f4, f8, c2, c4, c8, i4, bf},
      /* i8 */ {i8, i8, i8, i8, i8, f2, f4, f8, c2, c4, c8, i8, bf},
      /* f2 */ {f2, f2, f2, f2, f2, f2, f4, f8, c2, c4, c8, f2, f4},
      /* f4 */ {f4, f4, f4, f4, f4, f4, f4, f8, c4, c4, c8, f4, f4},
      /* f8 */ {f8, f8, f8, f8, f8, f8, f8, f8, c8, c8, c8, f8, f8},
      /* c2 */ {c2, c2, c2, c2, c2, c2, c4, c8, c2, c4, c8, c2, c4},
      /* c4 */ {c4, c4, c4, c4, c4, c4, c4, c8, c4, c4, c8, c4, c4},
      /* c8 */ {c8, c8, c8, c8, c8, c8, c8, c8, c8, c8, c8, c8, c8},
      /* b1 */ {u1, i1, i2, i4, i8, f2, f4, f8, c2, c4, c8, b1, bf},
      /* bf */ {bf, bf, bf, bf, bf, f4, f4, f8, c4, c4, c8, bf, bf},
  };
  for (size_t i = 0; i < 13; ++i) {
    for (size_t j = 0; j < 13; ++j) {
      EXPECT_EQ(promoteTypes(order[i], order[j]), table[i][j]) << toString(order[i]) << " " << toString(order[j]);
    }
    EXPECT_EQ(promoteTypes(order[i], Undefined), Undefined);
    EXPECT_EQ(promoteTypes(Undefined, order[i]), Undefined);
  }
}

TEST(ScalarType, CastsNeverLowerTheKind) {
  EXPECT_TRUE(canCast(Long, Byte));
  EXPECT_TRUE(canCast(Double, ScalarType::Half));
  EXPECT_TRUE(canCast(Long, Float));
  EXPECT_TRUE(canCast(Float, ComplexFloat));
  EXPECT_TRUE(canCast(Bool, Bool));
  EXPECT_TRUE(canCast(Bool, Long));
  EXPECT_FALSE(canCast(ComplexFloat, Float));
  EXPECT_FALSE(canCast(ComplexFloat, Bool));
  EXPECT_FALSE(canCast(Float, Long));
  EXPECT_FALSE(canCast(Float, Bool));
  EXPECT_FALSE(canCast(Long, Bool));
}

TEST(ScalarType, VisitReturnsWhatTheBodyReturns) {
  const auto size = [](auto tag) { return sizeof(typename decltype(tag)::type); };
  EXPECT_EQ(visitScalarType(kFloatingTypes, ScalarType::Half, "exp", size), 2u);
  EXPECT_EQ(visitScalarType(kIntegralTypes, Long, "exp", size), 8u);
  EXPECT_EQ(visitScalarType(kBoolType + kComplexTypes, ComplexDouble, "exp", size), 16u);
  int value = 3;
  int& reference = visitScalarType(kBoolType, Bool, "exp", [&](auto) -> int& { return value; });
  EXPECT_EQ(&reference, &value);
}

TEST(ScalarType, VisitNamesOperatorAndTypesWhenNoneFits) {
  const auto visitError = [](auto types, ScalarType type) {
    return errorOf([&] { visitScalarType(types, type, "aten::exp", [](auto) {}); });
  };
  EXPECT_EQ(visitError(kFloatingTypes, Long),
            "aten::exp does not take dtype int64; it takes float16, bfloat16, float32 or float64");
  EXPECT_EQ(visitError(kBoolType, ComplexHalf), "aten::exp does not take dtype complex32; it takes bool");
  EXPECT_EQ(visitError(kRealTypes, Undefined).substr(0, 43), "aten::exp does not take dtype undefined; it");
}

}  // namespace
}  // namespace boxcar
