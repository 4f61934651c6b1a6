#pragma once

#include <boxcar/ivalue/scalar_type.h>

#include <cstdint>

// The element functions of pointwise operators, by family; each family's functors are in a header pointwise_*.h. Every
// device instantiates its loops from these lists.
//
//   X(functor, arity, result, types)
//
//   arity    number of inputs
//   result   Result
//   types    the element types computed from; float16 and bfloat16 are computed in float32

namespace boxcar::functors {

// The element type of a pointwise operator's result, given the common type of its inputs.
enum class Result : uint8_t {
  kSame,   // the common type
  kFloat,  // the common type, but float32 for integers and bools
  kBool,
  kReal,       // the common type, but the real type of a complex one
  kFloatReal,  // like kFloat, but the real type of a complex one
  kComplex,    // the complex type whose parts have the common type
  kTruth,      // bool, and inputs are read as bools: true if not zero
};

inline constexpr auto kNumberTypes = kRealTypes + kComplexTypes;
inline constexpr auto kContinuousTypes = kFloatingTypes + kComplexTypes;
inline constexpr auto kBitTypes = kBoolType + kIntegralTypes;
// The floating types without float16 and bfloat16, which would be computed in float32.
inline constexpr ElementTypes<float, double> kFullFloatTypes;

}  // namespace boxcar::functors

// clang-format off
#define BOXCAR_ARITHMETIC_FUNCTORS(X) \
  X(Add, 2, kSame, kAllTypes) \
  X(AddScaled, 2, kSame, kAllTypes) \
  X(Subtract, 2, kSame, kNumberTypes) \
  X(SubtractScaled, 2, kSame, kNumberTypes) \
  X(Divide, 2, kFloat, kContinuousTypes) \
  X(DivideTruncating, 2, kSame, kRealTypes) \
  X(Multiply, 2, kSame, kAllTypes) \
  X(DivideFlooring, 2, kSame, kRealTypes) \
  X(Remainder, 2, kSame, kRealTypes) \
  X(TruncatedRemainder, 2, kSame, kRealTypes) \
  X(Maximum, 2, kSame, kRealAndBoolTypes) \
  X(Minimum, 2, kSame, kRealAndBoolTypes) \
  X(MaximumNumber, 2, kSame, kRealAndBoolTypes) \
  X(MinimumNumber, 2, kSame, kRealAndBoolTypes)

#define BOXCAR_PAIR_FUNCTORS(X) \
  X(CopySign, 2, kFloat, kFloatingTypes) \
  X(Angle, 2, kFloat, kFloatingTypes) \
  X(Hypotenuse, 2, kSame, kFloatingTypes) \
  X(NextAfter, 2, kSame, kFullFloatTypes) \
  X(GreatestDivisor, 2, kSame, kIntegralTypes) \
  X(LeastMultiple, 2, kSame, kIntegralTypes) \
  X(Step, 2, kSame, kRealAndBoolTypes) \
  X(LogAddExp, 2, kSame, kFloatingTypes) \
  X(LogAddExp2, 2, kSame, kFloatingTypes) \
  X(TimesLogarithm, 2, kFloat, kFloatingTypes)

#define BOXCAR_TERNARY_FUNCTORS(X) \
  X(Between, 3, kSame, kRealTypes) \
  X(BetweenNumbers, 1, kSame, kFloatingTypes) \
  X(AddProduct, 3, kSame, kNumberTypes) \
  X(AddQuotient, 3, kSame, kContinuousTypes) \
  X(Interpolate, 3, kSame, kContinuousTypes) \
  X(InterpolateBy, 2, kSame, kContinuousTypes) \
  X(AtLeast, 2, kSame, kRealAndBoolTypes) \
  X(AtMost, 2, kSame, kRealAndBoolTypes)

#define BOXCAR_BITWISE_FUNCTORS(X) \
  X(BitwiseNot, 1, kSame, kBitTypes) \
  X(BitwiseAnd, 2, kSame, kBitTypes) \
  X(BitwiseOr, 2, kSame, kBitTypes) \
  X(BitwiseXor, 2, kSame, kBitTypes) \
  X(ShiftLeft, 2, kSame, kIntegralTypes) \
  X(ShiftRight, 2, kSame, kIntegralTypes)

#define BOXCAR_COMPARISON_FUNCTORS(X) \
  X(Equal, 2, kBool, kAllTypes) \
  X(NotEqual, 2, kBool, kAllTypes) \
  X(Less, 2, kBool, kRealAndBoolTypes) \
  X(LessOrEqual, 2, kBool, kRealAndBoolTypes) \
  X(Greater, 2, kBool, kRealAndBoolTypes) \
  X(GreaterOrEqual, 2, kBool, kRealAndBoolTypes) \
  X(IsNan, 1, kBool, kAllTypes) \
  X(IsPositiveInfinity, 1, kBool, kRealAndBoolTypes) \
  X(IsNegativeInfinity, 1, kBool, kRealAndBoolTypes) \
  X(SignBit, 1, kBool, kRealAndBoolTypes)

#define BOXCAR_ROUNDING_FUNCTORS(X) \
  X(Replace, 1, kSame, kRealAndBoolTypes) \
  X(Negative, 1, kSame, kNumberTypes) \
  X(Absolute, 1, kReal, kAllTypes) \
  X(Sign, 1, kSame, kAllTypes) \
  X(Floor, 1, kSame, kRealTypes) \
  X(Ceiling, 1, kSame, kRealTypes) \
  X(Rounded, 1, kSame, kRealTypes) \
  X(RoundedToDecimals, 1, kSame, kFloatingTypes) \
  X(Truncated, 1, kSame, kRealTypes) \
  X(Fraction, 1, kSame, kFloatingTypes)

#define BOXCAR_EXPONENTIAL_FUNCTORS(X) \
  X(Exponential, 1, kFloat, kContinuousTypes) \
  X(PowerOfTwo, 1, kFloat, kFloatingTypes) \
  X(ExponentialLessOne, 1, kFloat, kFloatingTypes) \
  X(Logarithm, 1, kFloat, kContinuousTypes) \
  X(BinaryLogarithm, 1, kFloat, kContinuousTypes) \
  X(DecimalLogarithm, 1, kFloat, kContinuousTypes) \
  X(LogarithmOfOneMore, 1, kFloat, kFloatingTypes) \
  X(Logit, 1, kFloat, kFloatingTypes) \
  X(SquareRoot, 1, kFloat, kContinuousTypes) \
  X(ReciprocalSquareRoot, 1, kFloat, kContinuousTypes) \
  X(Reciprocal, 1, kFloat, kContinuousTypes) \
  X(Sigmoid, 1, kFloat, kContinuousTypes)

#define BOXCAR_TRIGONOMETRIC_FUNCTORS(X) \
  X(Sine, 1, kFloat, kContinuousTypes) \
  X(Cosine, 1, kFloat, kContinuousTypes) \
  X(Tangent, 1, kFloat, kContinuousTypes) \
  X(ArcSine, 1, kFloat, kContinuousTypes) \
  X(ArcCosine, 1, kFloat, kContinuousTypes) \
  X(ArcTangent, 1, kFloat, kContinuousTypes) \
  X(CardinalSine, 1, kFloat, kContinuousTypes)

#define BOXCAR_HYPERBOLIC_FUNCTORS(X) \
  X(HyperbolicSine, 1, kFloat, kContinuousTypes) \
  X(HyperbolicCosine, 1, kFloat, kContinuousTypes) \
  X(HyperbolicTangent, 1, kFloat, kContinuousTypes) \
  X(ArcHyperbolicSine, 1, kFloat, kContinuousTypes) \
  X(ArcHyperbolicCosine, 1, kFloat, kContinuousTypes) \
  X(ArcHyperbolicTangent, 1, kFloat, kContinuousTypes)

#define BOXCAR_SPECIAL_FUNCTORS(X) \
  X(ErrorFunction, 1, kFloat, kFloatingTypes) \
  X(ErrorComplement, 1, kFloat, kFloatingTypes) \
  X(ErrorInverse, 1, kFloat, kFloatingTypes) \
  X(LogGamma, 1, kFloat, kFloatingTypes) \
  X(Digamma, 1, kFloat, kFloatingTypes)

#define BOXCAR_COMPLEX_FUNCTORS(X) \
  X(AngleOfNumber, 1, kFloatReal, kContinuousTypes) \
  X(Conjugate, 1, kSame, kAllTypes) \
  X(FromParts, 2, kComplex, kFullFloatTypes) \
  X(FromPolar, 2, kComplex, kFullFloatTypes)

#define BOXCAR_ACTIVATION_FUNCTORS(X) \
  X(GaussianLinear, 1, kSame, kFloatingTypes) \
  X(GaussianLinearTanh, 1, kSame, kFloatingTypes) \
  X(Rectified, 1, kSame, kRealTypes) \
  X(LeakilyRectified, 1, kSame, kFloatingTypes) \
  X(ExponentiallyRectified, 1, kSame, kFloatingTypes) \
  X(SigmoidLinear, 1, kSame, kContinuousTypes) \
  X(Mish, 1, kSame, kFloatingTypes) \
  X(Softplus, 1, kSame, kFloatingTypes) \
  X(LogSigmoid, 1, kSame, kFloatingTypes) \
  X(Threshold, 1, kSame, kRealTypes) \
  X(HardTanh, 1, kSame, kRealTypes) \
  X(HardSigmoid, 1, kSame, kFloatingTypes) \
  X(HardSwish, 1, kSame, kFloatingTypes) \
  X(HardShrink, 1, kSame, kFloatingTypes) \
  X(SoftShrink, 1, kSame, kFloatingTypes)

#define BOXCAR_GATE_FUNCTORS(X) \
  X(Sloped, 2, kSame, kFloatingTypes) \
  X(Gated, 2, kSame, kFloatingTypes)

#define BOXCAR_LOSS_FUNCTORS(X) \
  X(SquaredDifference, 2, kSame, kFloatingTypes) \
  X(SmoothDifference, 2, kSame, kFloatingTypes) \
  X(HuberDifference, 2, kSame, kFloatingTypes) \
  X(CrossEntropy, 2, kSame, kFloatingTypes)

#define BOXCAR_POWER_FUNCTORS(X) \
  X(Power, 2, kSame, kNumberTypes) \
  X(SquareOf, 1, kSame, kNumberTypes) \
  X(Cube, 1, kSame, kNumberTypes) \
  X(Root, 1, kSame, kContinuousTypes) \
  X(InverseRoot, 1, kSame, kContinuousTypes) \
  X(Inverse, 1, kSame, kContinuousTypes) \
  X(InverseSquare, 1, kSame, kContinuousTypes)

#define BOXCAR_MEMORY_FUNCTORS(X) \
  X(Fill, 0, kSame, kAllTypes)

#define BOXCAR_PRODUCT_FUNCTORS(X) \
  X(AddOuterProduct, 3, kSame, kAllTypes)

// clang-format on

// clang-format off
#define BOXCAR_FUNCTORS(X) \
  BOXCAR_ARITHMETIC_FUNCTORS(X) BOXCAR_PAIR_FUNCTORS(X) BOXCAR_TERNARY_FUNCTORS(X) BOXCAR_BITWISE_FUNCTORS(X) \
  BOXCAR_COMPARISON_FUNCTORS(X) BOXCAR_ROUNDING_FUNCTORS(X) BOXCAR_EXPONENTIAL_FUNCTORS(X) BOXCAR_TRIGONOMETRIC_FUNCTORS(X) \
  BOXCAR_HYPERBOLIC_FUNCTORS(X) BOXCAR_SPECIAL_FUNCTORS(X) BOXCAR_COMPLEX_FUNCTORS(X) BOXCAR_ACTIVATION_FUNCTORS(X) \
  BOXCAR_GATE_FUNCTORS(X) BOXCAR_LOSS_FUNCTORS(X) BOXCAR_POWER_FUNCTORS(X) BOXCAR_MEMORY_FUNCTORS(X) \
  BOXCAR_PRODUCT_FUNCTORS(X)
// clang-format on

namespace boxcar::functors {

#define BOXCAR_DECLARE_FUNCTOR(functor, arity, result, types) \
  template <class T>                                          \
  struct functor;
BOXCAR_FUNCTORS(BOXCAR_DECLARE_FUNCTOR)
#undef BOXCAR_DECLARE_FUNCTOR

// A functor's number. Select, which chooses between two inputs by a condition, is not one of the templates.
#define BOXCAR_ENUMERATOR(functor, arity, result, types) k##functor,
enum class Functor : uint8_t { BOXCAR_FUNCTORS(BOXCAR_ENUMERATOR) kSelect };
#undef BOXCAR_ENUMERATOR
inline constexpr size_t kFunctors = static_cast<size_t>(Functor::kSelect) + 1;

}  // namespace boxcar::functors
