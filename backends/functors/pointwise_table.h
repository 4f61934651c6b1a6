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
  X(Binary, "mul", Mul, kSame, kAllTypes, kArithmeticForms)                  \
  X(Binary, "floor_divide", FloorDivide, kSame, kRealTypes, kFloorDivideForms) \
  X(Binary, "remainder", Remainder, kSame, kRealTypes, kBitwiseForms)             \
  X(Binary, "fmod", Fmod, kSame, kRealTypes, kComparisonForms)      \
  X(Binary, "maximum", Maximum, kSame, kRealAndBoolTypes, kPlainNotInPlace)       \
  X(Binary, "minimum", Minimum, kSame, kRealAndBoolTypes, kPlainNotInPlace)       \
  X(Binary, "fmax", Fmax, kSame, kRealAndBoolTypes, kPlainNotInPlace)    \
  X(Binary, "fmin", Fmin, kSame, kRealAndBoolTypes, kPlainNotInPlace)

// pointwise_pairs.cpp
#define BOXCAR_PAIR_OPERATORS(X)                                               \
  X(Binary, "copysign", Copysign, kFloat, kFloatingTypes, kCopysignForms)      \
  X(Binary, "atan2", Atan2, kFloat, kFloatingTypes, kPlainForms)               \
  X(Binary, "hypot", Hypot, kSame, kFloatingTypes, kPlainForms)           \
  X(Binary, "nextafter", Nextafter, kSame, kFullFloatTypes, kPlainForms)       \
  X(Binary, "gcd", Gcd, kSame, kIntegralTypes, kPlainForms)        \
  X(Binary, "lcm", Lcm, kSame, kIntegralTypes, kPlainForms)          \
  X(Binary, "heaviside", Heaviside, kSame, kRealAndBoolTypes, kPlainForms)          \
  X(Binary, "logaddexp", Logaddexp, kSame, kFloatingTypes, kPlainNotInPlace)   \
  X(Binary, "logaddexp2", Logaddexp2, kSame, kFloatingTypes, kPlainNotInPlace) \
  X(Binary, "xlogy", Xlogy, kFloat, kFloatingTypes, kXlogyForms)

// pointwise_ternary.cpp; also clamp
#define BOXCAR_TERNARY_OPERATORS(X)                                                \
  X(Ternary, "addcmul", Addcmul, kSame, kNumberTypes, kAllForms)                \
  X(Ternary, "addcdiv", Addcdiv, kSame, kContinuousTypes, kAllForms)           \
  X(Ternary, "lerp", Lerp, kSame, kContinuousTypes, kTensorForms)           \
  X(Binary, "lerp", LerpScalar, kSame, kContinuousTypes, kScalarParameterForms) \
  X(Binary, "clamp_min", ClampMin, kSame, kRealAndBoolTypes, kClampForms)           \
  X(Binary, "clamp_max", ClampMax, kSame, kRealAndBoolTypes, kClampForms)

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
  X(Binary, "bitwise_left_shift", LeftShift, kSame, kIntegralTypes, kShiftForms)   \
  X(Binary, "bitwise_right_shift", RightShift, kSame, kIntegralTypes, kShiftForms) \
  X(Binary, "__lshift__", LeftShift, kSame, kIntegralTypes, kShiftOperatorForms)   \
  X(Binary, "__rshift__", RightShift, kSame, kIntegralTypes, kShiftOperatorForms)

// pointwise_comparison.cpp
#define BOXCAR_COMPARISON_OPERATORS(X)                                            \
  X(Binary, "eq", Eq, kBool, kAllTypes, kComparisonForms)                      \
  X(Binary, "ne", Ne, kBool, kAllTypes, kComparisonForms)                   \
  X(Binary, "lt", Lt, kBool, kRealAndBoolTypes, kComparisonForms)               \
  X(Binary, "le", Le, kBool, kRealAndBoolTypes, kComparisonForms)        \
  X(Binary, "gt", Gt, kBool, kRealAndBoolTypes, kComparisonForms)            \
  X(Binary, "ge", Ge, kBool, kRealAndBoolTypes, kComparisonForms)     \
  X(Unary, "isnan", Isnan, kBool, kAllTypes, kFunctionalOnly)                     \
  X(Unary, "isposinf", Isposinf, kBool, kRealAndBoolTypes, kNotInPlace) \
  X(Unary, "isneginf", Isneginf, kBool, kRealAndBoolTypes, kNotInPlace) \
  X(Unary, "signbit", Signbit, kBool, kRealAndBoolTypes, kNotInPlace)

// pointwise_rounding.cpp; also nan_to_num
#define BOXCAR_ROUNDING_OPERATORS(X)                                          \
  X(Unary, "neg", Neg, kSame, kNumberTypes, kAllForms)                   \
  X(Unary, "abs", Abs, kReal, kAllTypes, kAllForms)                      \
  X(Unary, "sign", Sgn, kSame, kRealAndBoolTypes, kAllForms)                 \
  X(Unary, "sgn", Sgn, kSame, kAllTypes, kAllForms)                          \
  X(Unary, "floor", Floor, kSame, kRealTypes, kAllForms)                      \
  X(Unary, "ceil", Ceil, kSame, kRealTypes, kAllForms)                     \
  X(Unary, "round", Round, kSame, kRealTypes, kAllForms)                    \
  X(Unary, "round", RoundDecimals, kSame, kFloatingTypes, kDecimalsForms) \
  X(Unary, "trunc", Trunc, kSame, kRealTypes, kAllForms)                  \
  X(Unary, "frac", Frac, kSame, kFloatingTypes, kAllForms)

// pointwise_exponential.cpp
#define BOXCAR_EXPONENTIAL_OPERATORS(X)                                        \
  X(Unary, "exp", Exp, kFloat, kContinuousTypes, kAllForms)            \
  X(Unary, "exp2", Exp2, kFloat, kFloatingTypes, kAllForms)              \
  X(Unary, "expm1", Expm1, kFloat, kFloatingTypes, kAllForms)     \
  X(Unary, "log", Log, kFloat, kContinuousTypes, kAllForms)              \
  X(Unary, "log2", Log2, kFloat, kContinuousTypes, kAllForms)       \
  X(Unary, "log10", Log10, kFloat, kContinuousTypes, kAllForms)     \
  X(Unary, "log1p", Log1p, kFloat, kFloatingTypes, kAllForms)     \
  X(Unary, "logit", Logit, kFloat, kFloatingTypes, kAllForms)                  \
  X(Unary, "sqrt", Sqrt, kFloat, kContinuousTypes, kAllForms)            \
  X(Unary, "rsqrt", Rsqrt, kFloat, kContinuousTypes, kAllForms) \
  X(Unary, "reciprocal", Reciprocal, kFloat, kContinuousTypes, kAllForms)      \
  X(Unary, "sigmoid", Sigmoid, kFloat, kContinuousTypes, kAllForms)

// pointwise_trigonometric.cpp
#define BOXCAR_TRIGONOMETRIC_OPERATORS(X)                           \
  X(Unary, "sin", Sin, kFloat, kContinuousTypes, kAllForms)        \
  X(Unary, "cos", Cos, kFloat, kContinuousTypes, kAllForms)      \
  X(Unary, "tan", Tan, kFloat, kContinuousTypes, kAllForms)     \
  X(Unary, "asin", Asin, kFloat, kContinuousTypes, kAllForms)    \
  X(Unary, "acos", Acos, kFloat, kContinuousTypes, kAllForms)  \
  X(Unary, "atan", Atan, kFloat, kContinuousTypes, kAllForms) \
  X(Unary, "sinc", Sinc, kFloat, kContinuousTypes, kAllForms)

// pointwise_hyperbolic.cpp
#define BOXCAR_HYPERBOLIC_OPERATORS(X)                                        \
  X(Unary, "sinh", Sinh, kFloat, kContinuousTypes, kAllForms)       \
  X(Unary, "cosh", Cosh, kFloat, kContinuousTypes, kAllForms)     \
  X(Unary, "tanh", Tanh, kFloat, kContinuousTypes, kAllForms)    \
  X(Unary, "asinh", Asinh, kFloat, kContinuousTypes, kAllForms)   \
  X(Unary, "acosh", Acosh, kFloat, kContinuousTypes, kAllForms) \
  X(Unary, "atanh", Atanh, kFloat, kContinuousTypes, kAllForms)

// pointwise_special.cpp
#define BOXCAR_SPECIAL_OPERATORS(X)                                    \
  X(Unary, "erf", Erf, kFloat, kFloatingTypes, kAllForms)    \
  X(Unary, "erfc", Erfc, kFloat, kFloatingTypes, kAllForms) \
  X(Unary, "erfinv", Erfinv, kFloat, kFloatingTypes, kAllForms)  \
  X(Unary, "lgamma", Lgamma, kFloat, kFloatingTypes, kAllForms)      \
  X(Unary, "digamma", Digamma, kFloat, kFloatingTypes, kAllForms)

// pointwise_complex.cpp
#define BOXCAR_COMPLEX_OPERATORS(X)                                            \
  X(Unary, "angle", Angle, kFloatReal, kContinuousTypes, kOutOnly)     \
  X(Unary, "conj_physical", ConjPhysical, kSame, kAllTypes, kAllForms)            \
  X(Binary, "complex", Complex, kComplex, kFullFloatTypes, kPlainNotInPlace) \
  X(Binary, "polar", Polar, kComplex, kFullFloatTypes, kPlainNotInPlace)

// pointwise_activation.cpp; also gelu, prelu, glu
#define BOXCAR_ACTIVATION_OPERATORS(X)                                       \
  X(Unary, "relu", Relu, kSame, kRealTypes, kAllForms)                  \
  X(Unary, "leaky_relu", LeakyRelu, kSame, kFloatingTypes, kAllForms) \
  X(Unary, "elu", Elu, kSame, kFloatingTypes, kAllForms)  \
  X(Unary, "silu", Silu, kSame, kContinuousTypes, kAllForms)        \
  X(Unary, "mish", Mish, kSame, kFloatingTypes, kAllForms)                   \
  X(Unary, "softplus", Softplus, kSame, kFloatingTypes, kNotInPlace)         \
  X(Unary, "log_sigmoid", LogSigmoid, kSame, kFloatingTypes, kOutOnly)       \
  X(Unary, "threshold", Threshold, kSame, kRealTypes, kAllForms)             \
  X(Unary, "hardtanh", Hardtanh, kSame, kRealTypes, kAllForms)               \
  X(Unary, "hardsigmoid", Hardsigmoid, kSame, kFloatingTypes, kAllForms)     \
  X(Unary, "hardswish", Hardswish, kSame, kFloatingTypes, kAllForms)         \
  X(Unary, "hardshrink", Hardshrink, kSame, kFloatingTypes, kNotInPlace)     \
  X(Unary, "softshrink", Softshrink, kSame, kFloatingTypes, kNotInPlace)
