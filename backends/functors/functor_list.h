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
  X(Sub, 2, kSame, kNumberTypes) \
  X(SubScaled, 2, kSame, kNumberTypes) \
  X(Div, 2, kFloat, kContinuousTypes) \
  X(DivTrunc, 2, kSame, kRealTypes) \
  X(Mul, 2, kSame, kAllTypes) \
  X(FloorDivide, 2, kSame, kRealTypes) \
  X(Remainder, 2, kSame, kRealTypes) \
  X(Fmod, 2, kSame, kRealTypes) \
  X(Maximum, 2, kSame, kRealAndBoolTypes) \
  X(Minimum, 2, kSame, kRealAndBoolTypes) \
  X(Fmax, 2, kSame, kRealAndBoolTypes) \
  X(Fmin, 2, kSame, kRealAndBoolTypes)

#define BOXCAR_PAIR_FUNCTORS(X) \
  X(Copysign, 2, kFloat, kFloatingTypes) \
  X(Atan2, 2, kFloat, kFloatingTypes) \
  X(Hypot, 2, kSame, kFloatingTypes) \
  X(Nextafter, 2, kSame, kFullFloatTypes) \
  X(Gcd, 2, kSame, kIntegralTypes) \
  X(Lcm, 2, kSame, kIntegralTypes) \
  X(Heaviside, 2, kSame, kRealAndBoolTypes) \
  X(Logaddexp, 2, kSame, kFloatingTypes) \
  X(Logaddexp2, 2, kSame, kFloatingTypes) \
  X(Xlogy, 2, kFloat, kFloatingTypes)

#define BOXCAR_TERNARY_FUNCTORS(X) \
  X(Clamp, 3, kSame, kRealTypes) \
  X(ClampScalar, 1, kSame, kFloatingTypes) \
  X(Addcmul, 3, kSame, kNumberTypes) \
  X(Addcdiv, 3, kSame, kContinuousTypes) \
  X(Lerp, 3, kSame, kContinuousTypes) \
  X(LerpScalar, 2, kSame, kContinuousTypes) \
  X(ClampMin, 2, kSame, kRealAndBoolTypes) \
  X(ClampMax, 2, kSame, kRealAndBoolTypes)

#define BOXCAR_BITWISE_FUNCTORS(X) \
  X(BitwiseNot, 1, kSame, kBitTypes) \
  X(BitwiseAnd, 2, kSame, kBitTypes) \
  X(BitwiseOr, 2, kSame, kBitTypes) \
  X(BitwiseXor, 2, kSame, kBitTypes) \
  X(LeftShift, 2, kSame, kIntegralTypes) \
  X(RightShift, 2, kSame, kIntegralTypes)

#define BOXCAR_COMPARISON_FUNCTORS(X) \
  X(Eq, 2, kBool, kAllTypes) \
  X(Ne, 2, kBool, kAllTypes) \
  X(Lt, 2, kBool, kRealAndBoolTypes) \
  X(Le, 2, kBool, kRealAndBoolTypes) \
  X(Gt, 2, kBool, kRealAndBoolTypes) \
  X(Ge, 2, kBool, kRealAndBoolTypes) \
  X(Isnan, 1, kBool, kAllTypes) \
  X(Isposinf, 1, kBool, kRealAndBoolTypes) \
  X(Isneginf, 1, kBool, kRealAndBoolTypes) \
  X(Signbit, 1, kBool, kRealAndBoolTypes)

#define BOXCAR_ROUNDING_FUNCTORS(X) \
  X(NanToNum, 1, kSame, kRealAndBoolTypes) \
  X(Neg, 1, kSame, kNumberTypes) \
  X(Abs, 1, kReal, kAllTypes) \
  X(Sgn, 1, kSame, kAllTypes) \
  X(Floor, 1, kSame, kRealTypes) \
  X(Ceil, 1, kSame, kRealTypes) \
  X(Round, 1, kSame, kRealTypes) \
  X(RoundDecimals, 1, kSame, kFloatingTypes) \
  X(Trunc, 1, kSame, kRealTypes) \
  X(Frac, 1, kSame, kFloatingTypes)

#define BOXCAR_EXPONENTIAL_FUNCTORS(X) \
  X(Exp, 1, kFloat, kContinuousTypes) \
  X(Exp2, 1, kFloat, kFloatingTypes) \
  X(Expm1, 1, kFloat, kFloatingTypes) \
  X(Log, 1, kFloat, kContinuousTypes) \
  X(Log2, 1, kFloat, kContinuousTypes) \
  X(Log10, 1, kFloat, kContinuousTypes) \
  X(Log1p, 1, kFloat, kFloatingTypes) \
  X(Logit, 1, kFloat, kFloatingTypes) \
  X(Sqrt, 1, kFloat, kContinuousTypes) \
  X(Rsqrt, 1, kFloat, kContinuousTypes) \
  X(Reciprocal, 1, kFloat, kContinuousTypes) \
  X(Sigmoid, 1, kFloat, kContinuousTypes)

#define BOXCAR_TRIGONOMETRIC_FUNCTORS(X) \
  X(Sin, 1, kFloat, kContinuousTypes) \
  X(Cos, 1, kFloat, kContinuousTypes) \
  X(Tan, 1, kFloat, kContinuousTypes) \
  X(Asin, 1, kFloat, kContinuousTypes) \
  X(Acos, 1, kFloat, kContinuousTypes) \
  X(Atan, 1, kFloat, kContinuousTypes) \
  X(Sinc, 1, kFloat, kContinuousTypes)

#define BOXCAR_HYPERBOLIC_FUNCTORS(X) \
  X(Sinh, 1, kFloat, kContinuousTypes) \
  X(Cosh, 1, kFloat, kContinuousTypes) \
  X(Tanh, 1, kFloat, kContinuousTypes) \
  X(Asinh, 1, kFloat, kContinuousTypes) \
  X(Acosh, 1, kFloat, kContinuousTypes) \
  X(Atanh, 1, kFloat, kContinuousTypes)

#define BOXCAR_SPECIAL_FUNCTORS(X) \
  X(Erf, 1, kFloat, kFloatingTypes) \
  X(Erfc, 1, kFloat, kFloatingTypes) \
  X(Erfinv, 1, kFloat, kFloatingTypes) \
  X(Lgamma, 1, kFloat, kFloatingTypes) \
  X(Digamma, 1, kFloat, kFloatingTypes)

#define BOXCAR_COMPLEX_FUNCTORS(X) \
  X(Angle, 1, kFloatReal, kContinuousTypes) \
  X(ConjPhysical, 1, kSame, kAllTypes) \
  X(Complex, 2, kComplex, kFullFloatTypes) \
  X(Polar, 2, kComplex, kFullFloatTypes)

#define BOXCAR_ACTIVATION_FUNCTORS(X) \
  X(Gelu, 1, kSame, kFloatingTypes) \
  X(GeluTanh, 1, kSame, kFloatingTypes) \
  X(Relu, 1, kSame, kRealTypes) \
  X(LeakyRelu, 1, kSame, kFloatingTypes) \
  X(Elu, 1, kSame, kFloatingTypes) \
  X(Silu, 1, kSame, kContinuousTypes) \
  X(Mish, 1, kSame, kFloatingTypes) \
  X(Softplus, 1, kSame, kFloatingTypes) \
  X(LogSigmoid, 1, kSame, kFloatingTypes) \
  X(Threshold, 1, kSame, kRealTypes) \
  X(Hardtanh, 1, kSame, kRealTypes) \
  X(Hardsigmoid, 1, kSame, kFloatingTypes) \
  X(Hardswish, 1, kSame, kFloatingTypes) \
  X(Hardshrink, 1, kSame, kFloatingTypes) \
  X(Softshrink, 1, kSame, kFloatingTypes)

#define BOXCAR_GATE_FUNCTORS(X) \
  X(Prelu, 2, kSame, kFloatingTypes) \
  X(Glu, 2, kSame, kFloatingTypes)

#define BOXCAR_LOSS_FUNCTORS(X) \
  X(MseLoss, 2, kSame, kFloatingTypes) \
  X(SmoothL1Loss, 2, kSame, kFloatingTypes) \
  X(HuberLoss, 2, kSame, kFloatingTypes) \
  X(BinaryCrossEntropy, 2, kSame, kFloatingTypes)

#define BOXCAR_POWER_FUNCTORS(X) \
  X(Pow, 2, kSame, kNumberTypes) \
  X(Square, 1, kSame, kNumberTypes) \
  X(Cube, 1, kSame, kNumberTypes) \
  X(Root, 1, kSame, kContinuousTypes) \
  X(InverseRoot, 1, kSame, kContinuousTypes) \
  X(Inverse, 1, kSame, kContinuousTypes) \
  X(InverseSquare, 1, kSame, kContinuousTypes)

#define BOXCAR_MEMORY_FUNCTORS(X) \
  X(Fill, 0, kSame, kAllTypes)

#define BOXCAR_PRODUCT_FUNCTORS(X) \
  X(Addr, 3, kSame, kAllTypes)

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
