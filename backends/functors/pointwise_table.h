#pragma once

#include <boxcar/backends/functors/functor_list.h>

// The pointwise operators, by family: the functor that computes each, its result type, the element types that it takes
// and its overloads. A family's functors are in a header beside this one and in functor_list.h; a file in native/
// registers the family's lines for all devices. To add an operator, add a line here, its functor and its line in
// functor_list.h if it is new, and its schemas with docstrings in backends/ops/.
//
//   kind     Unary, Binary, Ternary: the number of inputs (native/pointwise_registration.h)
//   result   Result (functor_list.h)
//   types    the element types computed from; float16 and bfloat16 are computed in float32
//   forms    names of the overloads (native/pointwise_registration.h)
//
// Not here: operators whose arguments choose what to compute; they are at the end of their family's file.

// kind, operator, functor, result, element types, overloads

// pointwise_arithmetic.cpp; also add, sub, rsub, div
#define BOXCAR_ARITHMETIC_OPERATORS(X)                                            \
  X(Binary, "mul", Multiply, kSame, kAllTypes, kArithmeticForms)                  \
  X(Binary, "floor_divide", DivideFlooring, kSame, kRealTypes, kFloorDivideForms) \
  X(Binary, "remainder", Remainder, kSame, kRealTypes, kBitwiseForms)             \
  X(Binary, "fmod", TruncatedRemainder, kSame, kRealTypes, kComparisonForms)      \
  X(Binary, "maximum", Maximum, kSame, kRealAndBoolTypes, kPlainNotInPlace)       \
  X(Binary, "minimum", Minimum, kSame, kRealAndBoolTypes, kPlainNotInPlace)       \
  X(Binary, "fmax", MaximumNumber, kSame, kRealAndBoolTypes, kPlainNotInPlace)    \
  X(Binary, "fmin", MinimumNumber, kSame, kRealAndBoolTypes, kPlainNotInPlace)

// pointwise_pairs.cpp
#define BOXCAR_PAIR_OPERATORS(X)                                               \
  X(Binary, "copysign", CopySign, kFloat, kFloatingTypes, kCopysignForms)      \
  X(Binary, "atan2", Angle, kFloat, kFloatingTypes, kPlainForms)               \
  X(Binary, "hypot", Hypotenuse, kSame, kFloatingTypes, kPlainForms)           \
  X(Binary, "nextafter", NextAfter, kSame, kFullFloatTypes, kPlainForms)       \
  X(Binary, "gcd", GreatestDivisor, kSame, kIntegralTypes, kPlainForms)        \
  X(Binary, "lcm", LeastMultiple, kSame, kIntegralTypes, kPlainForms)          \
  X(Binary, "heaviside", Step, kSame, kRealAndBoolTypes, kPlainForms)          \
  X(Binary, "logaddexp", LogAddExp, kSame, kFloatingTypes, kPlainNotInPlace)   \
  X(Binary, "logaddexp2", LogAddExp2, kSame, kFloatingTypes, kPlainNotInPlace) \
  X(Binary, "xlogy", TimesLogarithm, kFloat, kFloatingTypes, kXlogyForms)

// pointwise_ternary.cpp; also clamp
#define BOXCAR_TERNARY_OPERATORS(X)                                                \
  X(Ternary, "addcmul", AddProduct, kSame, kNumberTypes, kAllForms)                \
  X(Ternary, "addcdiv", AddQuotient, kSame, kContinuousTypes, kAllForms)           \
  X(Ternary, "lerp", Interpolate, kSame, kContinuousTypes, kTensorForms)           \
  X(Binary, "lerp", InterpolateBy, kSame, kContinuousTypes, kScalarParameterForms) \
  X(Binary, "clamp_min", AtLeast, kSame, kRealAndBoolTypes, kClampForms)           \
  X(Binary, "clamp_max", AtMost, kSame, kRealAndBoolTypes, kClampForms)

// pointwise_bitwise.cpp; also __ilshift__ and __irshift__
#define BOXCAR_BITWISE_OPERATORS(X)                                                \
  X(Unary, "bitwise_not", BitwiseNot, kSame, kBitTypes, kAllForms)                 \
  X(Unary, "logical_not", BitwiseNot, kTruth, kBoolType, kAllForms)                \
  X(Binary, "logical_and", BitwiseAnd, kTruth, kBoolType, kPlainForms)             \
  X(Binary, "logical_or", BitwiseOr, kTruth, kBoolType, kPlainForms)               \
  X(Binary, "logical_xor", BitwiseXor, kTruth, kBoolType, kPlainForms)             \
  X(Binary, "bitwise_and", BitwiseAnd, kSame, kBitTypes, kBitwiseForms)            \
  X(Binary, "bitwise_or", BitwiseOr, kSame, kBitTypes, kBitwiseForms)              \
  X(Binary, "bitwise_xor", BitwiseXor, kSame, kBitTypes, kBitwiseForms)            \
  X(Binary, "bitwise_left_shift", ShiftLeft, kSame, kIntegralTypes, kShiftForms)   \
  X(Binary, "bitwise_right_shift", ShiftRight, kSame, kIntegralTypes, kShiftForms) \
  X(Binary, "__lshift__", ShiftLeft, kSame, kIntegralTypes, kShiftOperatorForms)   \
  X(Binary, "__rshift__", ShiftRight, kSame, kIntegralTypes, kShiftOperatorForms)

// pointwise_comparison.cpp
#define BOXCAR_COMPARISON_OPERATORS(X)                                            \
  X(Binary, "eq", Equal, kBool, kAllTypes, kComparisonForms)                      \
  X(Binary, "ne", NotEqual, kBool, kAllTypes, kComparisonForms)                   \
  X(Binary, "lt", Less, kBool, kRealAndBoolTypes, kComparisonForms)               \
  X(Binary, "le", LessOrEqual, kBool, kRealAndBoolTypes, kComparisonForms)        \
  X(Binary, "gt", Greater, kBool, kRealAndBoolTypes, kComparisonForms)            \
  X(Binary, "ge", GreaterOrEqual, kBool, kRealAndBoolTypes, kComparisonForms)     \
  X(Unary, "isnan", IsNan, kBool, kAllTypes, kFunctionalOnly)                     \
  X(Unary, "isposinf", IsPositiveInfinity, kBool, kRealAndBoolTypes, kNotInPlace) \
  X(Unary, "isneginf", IsNegativeInfinity, kBool, kRealAndBoolTypes, kNotInPlace) \
  X(Unary, "signbit", SignBit, kBool, kRealAndBoolTypes, kNotInPlace)

// pointwise_rounding.cpp; also nan_to_num
#define BOXCAR_ROUNDING_OPERATORS(X)                                          \
  X(Unary, "neg", Negative, kSame, kNumberTypes, kAllForms)                   \
  X(Unary, "abs", Absolute, kReal, kAllTypes, kAllForms)                      \
  X(Unary, "sign", Sign, kSame, kRealAndBoolTypes, kAllForms)                 \
  X(Unary, "sgn", Sign, kSame, kAllTypes, kAllForms)                          \
  X(Unary, "floor", Floor, kSame, kRealTypes, kAllForms)                      \
  X(Unary, "ceil", Ceiling, kSame, kRealTypes, kAllForms)                     \
  X(Unary, "round", Rounded, kSame, kRealTypes, kAllForms)                    \
  X(Unary, "round", RoundedToDecimals, kSame, kFloatingTypes, kDecimalsForms) \
  X(Unary, "trunc", Truncated, kSame, kRealTypes, kAllForms)                  \
  X(Unary, "frac", Fraction, kSame, kFloatingTypes, kAllForms)

// pointwise_exponential.cpp
#define BOXCAR_EXPONENTIAL_OPERATORS(X)                                        \
  X(Unary, "exp", Exponential, kFloat, kContinuousTypes, kAllForms)            \
  X(Unary, "exp2", PowerOfTwo, kFloat, kFloatingTypes, kAllForms)              \
  X(Unary, "expm1", ExponentialLessOne, kFloat, kFloatingTypes, kAllForms)     \
  X(Unary, "log", Logarithm, kFloat, kContinuousTypes, kAllForms)              \
  X(Unary, "log2", BinaryLogarithm, kFloat, kContinuousTypes, kAllForms)       \
  X(Unary, "log10", DecimalLogarithm, kFloat, kContinuousTypes, kAllForms)     \
  X(Unary, "log1p", LogarithmOfOneMore, kFloat, kFloatingTypes, kAllForms)     \
  X(Unary, "logit", Logit, kFloat, kFloatingTypes, kAllForms)                  \
  X(Unary, "sqrt", SquareRoot, kFloat, kContinuousTypes, kAllForms)            \
  X(Unary, "rsqrt", ReciprocalSquareRoot, kFloat, kContinuousTypes, kAllForms) \
  X(Unary, "reciprocal", Reciprocal, kFloat, kContinuousTypes, kAllForms)      \
  X(Unary, "sigmoid", Sigmoid, kFloat, kContinuousTypes, kAllForms)

// pointwise_trigonometric.cpp
#define BOXCAR_TRIGONOMETRIC_OPERATORS(X)                           \
  X(Unary, "sin", Sine, kFloat, kContinuousTypes, kAllForms)        \
  X(Unary, "cos", Cosine, kFloat, kContinuousTypes, kAllForms)      \
  X(Unary, "tan", Tangent, kFloat, kContinuousTypes, kAllForms)     \
  X(Unary, "asin", ArcSine, kFloat, kContinuousTypes, kAllForms)    \
  X(Unary, "acos", ArcCosine, kFloat, kContinuousTypes, kAllForms)  \
  X(Unary, "atan", ArcTangent, kFloat, kContinuousTypes, kAllForms) \
  X(Unary, "sinc", CardinalSine, kFloat, kContinuousTypes, kAllForms)

// pointwise_hyperbolic.cpp
#define BOXCAR_HYPERBOLIC_OPERATORS(X)                                        \
  X(Unary, "sinh", HyperbolicSine, kFloat, kContinuousTypes, kAllForms)       \
  X(Unary, "cosh", HyperbolicCosine, kFloat, kContinuousTypes, kAllForms)     \
  X(Unary, "tanh", HyperbolicTangent, kFloat, kContinuousTypes, kAllForms)    \
  X(Unary, "asinh", ArcHyperbolicSine, kFloat, kContinuousTypes, kAllForms)   \
  X(Unary, "acosh", ArcHyperbolicCosine, kFloat, kContinuousTypes, kAllForms) \
  X(Unary, "atanh", ArcHyperbolicTangent, kFloat, kContinuousTypes, kAllForms)

// pointwise_special.cpp
#define BOXCAR_SPECIAL_OPERATORS(X)                                    \
  X(Unary, "erf", ErrorFunction, kFloat, kFloatingTypes, kAllForms)    \
  X(Unary, "erfc", ErrorComplement, kFloat, kFloatingTypes, kAllForms) \
  X(Unary, "erfinv", ErrorInverse, kFloat, kFloatingTypes, kAllForms)  \
  X(Unary, "lgamma", LogGamma, kFloat, kFloatingTypes, kAllForms)      \
  X(Unary, "digamma", Digamma, kFloat, kFloatingTypes, kAllForms)

// pointwise_complex.cpp
#define BOXCAR_COMPLEX_OPERATORS(X)                                            \
  X(Unary, "angle", AngleOfNumber, kFloatReal, kContinuousTypes, kOutOnly)     \
  X(Unary, "conj_physical", Conjugate, kSame, kAllTypes, kAllForms)            \
  X(Binary, "complex", FromParts, kComplex, kFullFloatTypes, kPlainNotInPlace) \
  X(Binary, "polar", FromPolar, kComplex, kFullFloatTypes, kPlainNotInPlace)

// pointwise_activation.cpp; also gelu, prelu, glu
#define BOXCAR_ACTIVATION_OPERATORS(X)                                       \
  X(Unary, "relu", Rectified, kSame, kRealTypes, kAllForms)                  \
  X(Unary, "leaky_relu", LeakilyRectified, kSame, kFloatingTypes, kAllForms) \
  X(Unary, "elu", ExponentiallyRectified, kSame, kFloatingTypes, kAllForms)  \
  X(Unary, "silu", SigmoidLinear, kSame, kContinuousTypes, kAllForms)        \
  X(Unary, "mish", Mish, kSame, kFloatingTypes, kAllForms)                   \
  X(Unary, "softplus", Softplus, kSame, kFloatingTypes, kNotInPlace)         \
  X(Unary, "log_sigmoid", LogSigmoid, kSame, kFloatingTypes, kOutOnly)       \
  X(Unary, "threshold", Threshold, kSame, kRealTypes, kAllForms)             \
  X(Unary, "hardtanh", HardTanh, kSame, kRealTypes, kAllForms)               \
  X(Unary, "hardsigmoid", HardSigmoid, kSame, kFloatingTypes, kAllForms)     \
  X(Unary, "hardswish", HardSwish, kSame, kFloatingTypes, kAllForms)         \
  X(Unary, "hardshrink", HardShrink, kSame, kFloatingTypes, kNotInPlace)     \
  X(Unary, "softshrink", SoftShrink, kSame, kFloatingTypes, kNotInPlace)
