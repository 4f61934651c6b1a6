#pragma once

#include <boxcar/ivalue/scalar_type.h>

#include <cstddef>
#include <cstdint>

// The operators that work element by element, and their functors, by family; a header pointwise_*.h has each family's
// functors. Every device makes its loops from these tables, and native/ registers the operators. To add an operator,
// add a line here, its functor to the family's header, and its schema with a docstring to backends/ops/.
//
//   OPERATOR(X, kind, functor, result, types, vectors, name, forms)   a functor and the operator that it computes
//   FUNCTOR(X, kind, functor, result, types, vectors)                 a functor that operators select by arguments
//   ALIAS(X, kind, functor, result, types, name, forms)               another operator of a functor above
//
//   kind      Nullary, Unary, Binary, Ternary: the number of inputs
//   result    Result, below
//   types     the element types that it is computed in; float16 and bfloat16 are computed in float32
//   vectors   Vector: CPUs have vector rows for it (cpu/vector_functions.h); As(F): those of functor F; Plain: none
//   name      the operator's name
//   forms     the names of its overloads (native/pointwise_registration.h)
//   X         passed on to the macros

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

inline constexpr auto kContinuousTypes = kFloatingTypes + kComplexTypes;
inline constexpr auto kBitTypes = kBoolType + kIntegralTypes;

}  // namespace boxcar::functors

// clang-format off
// Also add, sub, rsub, div: native/pointwise_arithmetic.cpp chooses the functor.
#define BOXCAR_ARITHMETIC_TABLE(OPERATOR, FUNCTOR, ALIAS, X) \
  FUNCTOR(X, Binary, Add, kSame, kAllTypes, Vector) \
  FUNCTOR(X, Binary, AddScaled, kSame, kAllTypes, Plain) \
  FUNCTOR(X, Binary, Sub, kSame, kNumberTypes, Vector) \
  FUNCTOR(X, Binary, SubScaled, kSame, kNumberTypes, Plain) \
  FUNCTOR(X, Binary, Div, kFloat, kContinuousTypes, Vector) \
  FUNCTOR(X, Binary, DivTrunc, kSame, kRealTypes, Plain) \
  OPERATOR(X, Binary, Mul, kSame, kAllTypes, Vector, "mul", kArithmeticForms) \
  OPERATOR(X, Binary, FloorDivide, kSame, kRealTypes, Plain, "floor_divide", kFloorDivideForms) \
  OPERATOR(X, Binary, Remainder, kSame, kRealTypes, Plain, "remainder", kBitwiseForms) \
  OPERATOR(X, Binary, Fmod, kSame, kRealTypes, Plain, "fmod", kComparisonForms) \
  OPERATOR(X, Binary, Maximum, kSame, kRealAndBoolTypes, Vector, "maximum", kPlainNotInPlace) \
  OPERATOR(X, Binary, Minimum, kSame, kRealAndBoolTypes, Vector, "minimum", kPlainNotInPlace) \
  OPERATOR(X, Binary, Fmax, kSame, kRealAndBoolTypes, Plain, "fmax", kPlainNotInPlace) \
  OPERATOR(X, Binary, Fmin, kSame, kRealAndBoolTypes, Plain, "fmin", kPlainNotInPlace)

// Also nextafter: native/pointwise_binary.cpp computes that of halves.
#define BOXCAR_BINARY_TABLE(OPERATOR, FUNCTOR, ALIAS, X) \
  OPERATOR(X, Binary, Copysign, kFloat, kFloatingTypes, Plain, "copysign", kCopysignForms) \
  OPERATOR(X, Binary, Atan2, kFloat, kFloatingTypes, Plain, "atan2", kPlainForms) \
  OPERATOR(X, Binary, Hypot, kSame, kFloatingTypes, Plain, "hypot", kPlainForms) \
  FUNCTOR(X, Binary, Nextafter, kSame, kFullFloatTypes, Plain) \
  OPERATOR(X, Binary, Gcd, kSame, kIntegralTypes, Plain, "gcd", kPlainForms) \
  OPERATOR(X, Binary, Lcm, kSame, kIntegralTypes, Plain, "lcm", kPlainForms) \
  OPERATOR(X, Binary, Heaviside, kSame, kRealAndBoolTypes, Plain, "heaviside", kPlainForms) \
  OPERATOR(X, Binary, Logaddexp, kSame, kContinuousTypes, Plain, "logaddexp", kPlainNotInPlace) \
  OPERATOR(X, Binary, Logaddexp2, kSame, kFloatingTypes, Plain, "logaddexp2", kPlainNotInPlace) \
  OPERATOR(X, Binary, Xlogy, kFloat, kFloatingTypes, Plain, "xlogy", kXlogyForms)

// Also clamp: native/pointwise_ternary.cpp chooses the functor.
#define BOXCAR_TERNARY_TABLE(OPERATOR, FUNCTOR, ALIAS, X) \
  FUNCTOR(X, Ternary, Clamp, kSame, kRealTypes, Plain) \
  FUNCTOR(X, Unary, ClampScalar, kSame, kFloatingTypes, Vector) \
  OPERATOR(X, Ternary, Addcmul, kSame, kNumberTypes, Plain, "addcmul", kAllForms) \
  OPERATOR(X, Ternary, Addcdiv, kSame, kContinuousTypes, Plain, "addcdiv", kAllForms) \
  OPERATOR(X, Ternary, Lerp, kSame, kContinuousTypes, Plain, "lerp", kTensorForms) \
  OPERATOR(X, Binary, LerpScalar, kSame, kContinuousTypes, Plain, "lerp", kScalarParameterForms) \
  OPERATOR(X, Binary, ClampMin, kSame, kRealAndBoolTypes, As(Maximum), "clamp_min", kClampForms) \
  OPERATOR(X, Binary, ClampMax, kSame, kRealAndBoolTypes, As(Minimum), "clamp_max", kClampForms)

// Also __ilshift__ and __irshift__: native/pointwise_bitwise.cpp chooses the functor.
#define BOXCAR_BITWISE_TABLE(OPERATOR, FUNCTOR, ALIAS, X) \
  OPERATOR(X, Unary, BitwiseNot, kSame, kBitTypes, Plain, "bitwise_not", kAllForms) \
  ALIAS(X, Unary, BitwiseNot, kTruth, kBoolType, "logical_not", kAllForms) \
  OPERATOR(X, Binary, BitwiseAnd, kSame, kBitTypes, Plain, "bitwise_and", kBitwiseForms) \
  ALIAS(X, Binary, BitwiseAnd, kTruth, kBoolType, "logical_and", kPlainForms) \
  OPERATOR(X, Binary, BitwiseOr, kSame, kBitTypes, Plain, "bitwise_or", kBitwiseForms) \
  ALIAS(X, Binary, BitwiseOr, kTruth, kBoolType, "logical_or", kPlainForms) \
  OPERATOR(X, Binary, BitwiseXor, kSame, kBitTypes, Plain, "bitwise_xor", kBitwiseForms) \
  ALIAS(X, Binary, BitwiseXor, kTruth, kBoolType, "logical_xor", kPlainForms) \
  OPERATOR(X, Binary, LeftShift, kSame, kIntegralTypes, Plain, "bitwise_left_shift", kShiftForms) \
  ALIAS(X, Binary, LeftShift, kSame, kIntegralTypes, "__lshift__", kShiftOperatorForms) \
  OPERATOR(X, Binary, RightShift, kSame, kIntegralTypes, Plain, "bitwise_right_shift", kShiftForms) \
  ALIAS(X, Binary, RightShift, kSame, kIntegralTypes, "__rshift__", kShiftOperatorForms)

#define BOXCAR_COMPARISON_TABLE(OPERATOR, FUNCTOR, ALIAS, X) \
  OPERATOR(X, Binary, Eq, kBool, kAllTypes, Plain, "eq", kComparisonForms) \
  OPERATOR(X, Binary, Ne, kBool, kAllTypes, Plain, "ne", kComparisonForms) \
  OPERATOR(X, Binary, Lt, kBool, kRealAndBoolTypes, Plain, "lt", kComparisonForms) \
  OPERATOR(X, Binary, Le, kBool, kRealAndBoolTypes, Plain, "le", kComparisonForms) \
  OPERATOR(X, Binary, Gt, kBool, kRealAndBoolTypes, Plain, "gt", kComparisonForms) \
  OPERATOR(X, Binary, Ge, kBool, kRealAndBoolTypes, Plain, "ge", kComparisonForms) \
  OPERATOR(X, Unary, Isnan, kBool, kAllTypes, Plain, "isnan", kFunctionalOnly) \
  OPERATOR(X, Unary, Isposinf, kBool, kRealAndBoolTypes, Plain, "isposinf", kNotInPlace) \
  OPERATOR(X, Unary, Isneginf, kBool, kRealAndBoolTypes, Plain, "isneginf", kNotInPlace) \
  OPERATOR(X, Unary, Signbit, kBool, kRealAndBoolTypes, Plain, "signbit", kNotInPlace)

// Also nan_to_num: native/pointwise_rounding.cpp chooses the functor.
#define BOXCAR_ROUNDING_TABLE(OPERATOR, FUNCTOR, ALIAS, X) \
  FUNCTOR(X, Unary, NanToNum, kSame, kAllTypes, Plain) \
  OPERATOR(X, Unary, Neg, kSame, kNumberTypes, Vector, "neg", kAllForms) \
  OPERATOR(X, Unary, Abs, kReal, kAllTypes, Vector, "abs", kAllForms) \
  OPERATOR(X, Unary, Sgn, kSame, kAllTypes, Plain, "sgn", kAllForms) \
  ALIAS(X, Unary, Sgn, kSame, kRealAndBoolTypes, "sign", kAllForms) \
  OPERATOR(X, Unary, Floor, kSame, kRealTypes, Vector, "floor", kAllForms) \
  OPERATOR(X, Unary, Ceil, kSame, kRealTypes, Vector, "ceil", kAllForms) \
  OPERATOR(X, Unary, Round, kSame, kRealTypes, Vector, "round", kAllForms) \
  OPERATOR(X, Unary, RoundDecimals, kSame, kFloatingTypes, Plain, "round", kDecimalsForms) \
  OPERATOR(X, Unary, Trunc, kSame, kRealTypes, Vector, "trunc", kAllForms) \
  OPERATOR(X, Unary, Frac, kSame, kFloatingTypes, Plain, "frac", kAllForms)

#define BOXCAR_EXPONENTIAL_TABLE(OPERATOR, FUNCTOR, ALIAS, X) \
  OPERATOR(X, Unary, Exp, kFloat, kContinuousTypes, Vector, "exp", kAllForms) \
  OPERATOR(X, Unary, Exp2, kFloat, kContinuousTypes, Vector, "exp2", kAllForms) \
  OPERATOR(X, Unary, Expm1, kFloat, kContinuousTypes, Vector, "expm1", kAllForms) \
  OPERATOR(X, Unary, Log, kFloat, kContinuousTypes, Vector, "log", kAllForms) \
  OPERATOR(X, Unary, Log2, kFloat, kContinuousTypes, Vector, "log2", kAllForms) \
  OPERATOR(X, Unary, Log10, kFloat, kContinuousTypes, Vector, "log10", kAllForms) \
  OPERATOR(X, Unary, Log1p, kFloat, kContinuousTypes, Vector, "log1p", kAllForms) \
  OPERATOR(X, Unary, Logit, kFloat, kFloatingTypes, Vector, "logit", kAllForms) \
  OPERATOR(X, Unary, Sqrt, kFloat, kContinuousTypes, Vector, "sqrt", kAllForms) \
  OPERATOR(X, Unary, Rsqrt, kFloat, kContinuousTypes, Vector, "rsqrt", kAllForms) \
  OPERATOR(X, Unary, Reciprocal, kFloat, kContinuousTypes, Vector, "reciprocal", kAllForms) \
  OPERATOR(X, Unary, Sigmoid, kFloat, kContinuousTypes, Vector, "sigmoid", kAllForms)

#define BOXCAR_TRIGONOMETRIC_TABLE(OPERATOR, FUNCTOR, ALIAS, X) \
  OPERATOR(X, Unary, Sin, kFloat, kContinuousTypes, Vector, "sin", kAllForms) \
  OPERATOR(X, Unary, Cos, kFloat, kContinuousTypes, Vector, "cos", kAllForms) \
  OPERATOR(X, Unary, Tan, kFloat, kContinuousTypes, Vector, "tan", kAllForms) \
  OPERATOR(X, Unary, Asin, kFloat, kContinuousTypes, Vector, "asin", kAllForms) \
  OPERATOR(X, Unary, Acos, kFloat, kContinuousTypes, Vector, "acos", kAllForms) \
  OPERATOR(X, Unary, Atan, kFloat, kContinuousTypes, Vector, "atan", kAllForms) \
  OPERATOR(X, Unary, Sinc, kFloat, kContinuousTypes, Plain, "sinc", kAllForms)

#define BOXCAR_HYPERBOLIC_TABLE(OPERATOR, FUNCTOR, ALIAS, X) \
  OPERATOR(X, Unary, Sinh, kFloat, kContinuousTypes, Vector, "sinh", kAllForms) \
  OPERATOR(X, Unary, Cosh, kFloat, kContinuousTypes, Vector, "cosh", kAllForms) \
  OPERATOR(X, Unary, Tanh, kFloat, kContinuousTypes, Vector, "tanh", kAllForms) \
  OPERATOR(X, Unary, Asinh, kFloat, kContinuousTypes, Vector, "asinh", kAllForms) \
  OPERATOR(X, Unary, Acosh, kFloat, kContinuousTypes, Vector, "acosh", kAllForms) \
  OPERATOR(X, Unary, Atanh, kFloat, kContinuousTypes, Vector, "atanh", kAllForms)

// Also polygamma: native/pointwise_special.cpp puts its arguments in order.
#define BOXCAR_SPECIAL_TABLE(OPERATOR, FUNCTOR, ALIAS, X) \
  FUNCTOR(X, Unary, Polygamma, kFloat, kFloatingTypes, Plain) \
  OPERATOR(X, Unary, Erf, kFloat, kFloatingTypes, Vector, "erf", kAllForms) \
  OPERATOR(X, Unary, Erfc, kFloat, kFloatingTypes, Vector, "erfc", kAllForms) \
  OPERATOR(X, Unary, Erfinv, kFloat, kFloatingTypes, Plain, "erfinv", kAllForms) \
  OPERATOR(X, Unary, Lgamma, kFloat, kFloatingTypes, Plain, "lgamma", kAllForms) \
  OPERATOR(X, Unary, Digamma, kFloat, kFloatingTypes, Plain, "digamma", kAllForms) \
  OPERATOR(X, Unary, Entr, kFloat, kFloatingTypes, Plain, "special_entr", kNotInPlace) \
  OPERATOR(X, Unary, Erfcx, kFloat, kFloatingTypes, Plain, "special_erfcx", kNotInPlace) \
  OPERATOR(X, Unary, Ndtr, kFloat, kFloatingTypes, Plain, "special_ndtr", kNotInPlace) \
  OPERATOR(X, Unary, LogNdtr, kFloat, kFloatingTypes, Plain, "special_log_ndtr", kNotInPlace) \
  OPERATOR(X, Unary, SphericalBesselJ0, kFloat, kFloatingTypes, Plain, "special_spherical_bessel_j0", kNotInPlace) \
  OPERATOR(X, Binary, Xlog1py, kFloat, kFloatingTypes, Plain, "special_xlog1py", kSpecialForms) \
  OPERATOR(X, Binary, Zeta, kFloat, kFloatingTypes, Plain, "special_zeta", kSpecialForms)

// The functor of all orthogonal polynomials: native/pointwise_polynomial.cpp registers an operator for each.
#define BOXCAR_POLYNOMIAL_TABLE(OPERATOR, FUNCTOR, ALIAS, X) \
  FUNCTOR(X, Binary, Polynomial, kFloat, kFloatingTypes, Plain)

#define BOXCAR_COMPLEX_TABLE(OPERATOR, FUNCTOR, ALIAS, X) \
  OPERATOR(X, Unary, Angle, kFloatReal, kContinuousTypes, Plain, "angle", kOutOnly) \
  OPERATOR(X, Unary, ConjPhysical, kSame, kAllTypes, Plain, "conj_physical", kAllForms) \
  OPERATOR(X, Binary, Complex, kComplex, kFullFloatTypes, Plain, "complex", kPlainNotInPlace) \
  OPERATOR(X, Binary, Polar, kComplex, kFullFloatTypes, Plain, "polar", kPlainNotInPlace)

// Also gelu, prelu, glu: native/pointwise_activation.cpp chooses the functor.
#define BOXCAR_ACTIVATION_TABLE(OPERATOR, FUNCTOR, ALIAS, X) \
  FUNCTOR(X, Unary, Gelu, kSame, kFloatingTypes, Vector) \
  FUNCTOR(X, Unary, GeluTanh, kSame, kFloatingTypes, Vector) \
  OPERATOR(X, Unary, Relu, kSame, kRealTypes, Vector, "relu", kAllForms) \
  OPERATOR(X, Unary, LeakyRelu, kSame, kFloatingTypes, Vector, "leaky_relu", kAllForms) \
  OPERATOR(X, Unary, Elu, kSame, kFloatingTypes, Vector, "elu", kAllForms) \
  OPERATOR(X, Unary, Silu, kSame, kContinuousTypes, Vector, "silu", kAllForms) \
  OPERATOR(X, Unary, Mish, kSame, kFloatingTypes, Vector, "mish", kAllForms) \
  OPERATOR(X, Unary, Softplus, kSame, kFloatingTypes, Vector, "softplus", kNotInPlace) \
  OPERATOR(X, Unary, LogSigmoid, kSame, kFloatingTypes, Vector, "log_sigmoid", kOutOnly) \
  OPERATOR(X, Unary, Threshold, kSame, kRealTypes, Plain, "threshold", kAllForms) \
  OPERATOR(X, Unary, Hardtanh, kSame, kRealTypes, As(ClampScalar), "hardtanh", kAllForms) \
  OPERATOR(X, Unary, Hardsigmoid, kSame, kFloatingTypes, Plain, "hardsigmoid", kAllForms) \
  OPERATOR(X, Unary, Hardswish, kSame, kFloatingTypes, Vector, "hardswish", kAllForms) \
  OPERATOR(X, Unary, Hardshrink, kSame, kFloatingTypes, Plain, "hardshrink", kNotInPlace) \
  OPERATOR(X, Unary, Softshrink, kSame, kFloatingTypes, Plain, "softshrink", kNotInPlace)

#define BOXCAR_BINARY_ACTIVATION_TABLE(OPERATOR, FUNCTOR, ALIAS, X) \
  FUNCTOR(X, Binary, Prelu, kSame, kFloatingTypes, Plain) \
  FUNCTOR(X, Binary, Glu, kSame, kFloatingTypes, Plain)

// Also the operators of the first functors: native/pointwise_activation_gradients.cpp puts their arguments in order.
#define BOXCAR_ACTIVATION_GRADIENTS_TABLE(OPERATOR, FUNCTOR, ALIAS, X) \
  FUNCTOR(X, Binary, GeluBackward, kSame, kFloatingTypes, Vector) \
  FUNCTOR(X, Binary, GeluTanhBackward, kSame, kFloatingTypes, Vector) \
  FUNCTOR(X, Binary, ThresholdBackward, kSame, kRealTypes, Plain) \
  FUNCTOR(X, Binary, LeakyReluBackward, kSame, kFloatingTypes, Plain) \
  FUNCTOR(X, Binary, EluBackward, kSame, kFloatingTypes, Vector) \
  FUNCTOR(X, Binary, LogSigmoidBackward, kSame, kFloatingTypes, Vector) \
  FUNCTOR(X, Ternary, GluGateBackward, kSame, kFloatingTypes, Plain) \
  OPERATOR(X, Binary, SigmoidBackward, kSame, kContinuousTypes, Vector, "sigmoid_backward", kGradientForms) \
  OPERATOR(X, Binary, TanhBackward, kSame, kContinuousTypes, Vector, "tanh_backward", kGradientForms) \
  OPERATOR(X, Binary, SiluBackward, kSame, kContinuousTypes, Vector, "silu_backward", kGradientForms) \
  OPERATOR(X, Binary, MishBackward, kSame, kFloatingTypes, Vector, "mish_backward", kTensorsOnly) \
  OPERATOR(X, Binary, SoftplusBackward, kSame, kFloatingTypes, Vector, "softplus_backward", kGradientForms) \
  OPERATOR(X, Binary, HardtanhBackward, kSame, kFloatingTypes, Plain, "hardtanh_backward", kGradientForms) \
  OPERATOR(X, Binary, HardsigmoidBackward, kSame, kFloatingTypes, Plain, "hardsigmoid_backward", kGradientForms) \
  OPERATOR(X, Binary, HardswishBackward, kSame, kFloatingTypes, Plain, "hardswish_backward", kPlainNotInPlace) \
  OPERATOR(X, Binary, ShrinkBackward, kSame, kFloatingTypes, Plain, "hardshrink_backward", kGradientForms) \
  ALIAS(X, Binary, ShrinkBackward, kSame, kFloatingTypes, "softshrink_backward", kGradientForms) \
  OPERATOR(X, Binary, LogitBackward, kSame, kFloatingTypes, Plain, "logit_backward", kGradientForms)

#define BOXCAR_LOSSES_TABLE(OPERATOR, FUNCTOR, ALIAS, X) \
  FUNCTOR(X, Binary, MseLoss, kSame, kFloatingTypes, Plain) \
  FUNCTOR(X, Binary, SmoothL1Loss, kSame, kFloatingTypes, Plain) \
  FUNCTOR(X, Binary, HuberLoss, kSame, kFloatingTypes, Plain) \
  FUNCTOR(X, Binary, BinaryCrossEntropy, kSame, kFloatingTypes, Plain)

#define BOXCAR_POWER_TABLE(OPERATOR, FUNCTOR, ALIAS, X) \
  FUNCTOR(X, Binary, Pow, kSame, kNumberTypes, Plain) \
  FUNCTOR(X, Unary, Square, kSame, kNumberTypes, Vector) \
  FUNCTOR(X, Unary, Cube, kSame, kNumberTypes, Plain) \
  FUNCTOR(X, Unary, Root, kSame, kContinuousTypes, Plain) \
  FUNCTOR(X, Unary, InverseRoot, kSame, kContinuousTypes, Plain) \
  FUNCTOR(X, Unary, Inverse, kSame, kContinuousTypes, Plain) \
  FUNCTOR(X, Unary, InverseSquare, kSame, kContinuousTypes, Plain)

#define BOXCAR_MEMORY_TABLE(OPERATOR, FUNCTOR, ALIAS, X) \
  FUNCTOR(X, Nullary, Fill, kSame, kAllTypes, Plain)

#define BOXCAR_PRODUCTS_TABLE(OPERATOR, FUNCTOR, ALIAS, X) \
  FUNCTOR(X, Ternary, Addr, kSame, kAllTypes, Plain)

#define BOXCAR_POINTWISE_TABLES(OPERATOR, FUNCTOR, ALIAS, X) \
  BOXCAR_ARITHMETIC_TABLE(OPERATOR, FUNCTOR, ALIAS, X) \
  BOXCAR_BINARY_TABLE(OPERATOR, FUNCTOR, ALIAS, X) \
  BOXCAR_TERNARY_TABLE(OPERATOR, FUNCTOR, ALIAS, X) \
  BOXCAR_BITWISE_TABLE(OPERATOR, FUNCTOR, ALIAS, X) \
  BOXCAR_COMPARISON_TABLE(OPERATOR, FUNCTOR, ALIAS, X) \
  BOXCAR_ROUNDING_TABLE(OPERATOR, FUNCTOR, ALIAS, X) \
  BOXCAR_EXPONENTIAL_TABLE(OPERATOR, FUNCTOR, ALIAS, X) \
  BOXCAR_TRIGONOMETRIC_TABLE(OPERATOR, FUNCTOR, ALIAS, X) \
  BOXCAR_HYPERBOLIC_TABLE(OPERATOR, FUNCTOR, ALIAS, X) \
  BOXCAR_SPECIAL_TABLE(OPERATOR, FUNCTOR, ALIAS, X) \
  BOXCAR_POLYNOMIAL_TABLE(OPERATOR, FUNCTOR, ALIAS, X) \
  BOXCAR_COMPLEX_TABLE(OPERATOR, FUNCTOR, ALIAS, X) \
  BOXCAR_ACTIVATION_TABLE(OPERATOR, FUNCTOR, ALIAS, X) \
  BOXCAR_BINARY_ACTIVATION_TABLE(OPERATOR, FUNCTOR, ALIAS, X) \
  BOXCAR_ACTIVATION_GRADIENTS_TABLE(OPERATOR, FUNCTOR, ALIAS, X) \
  BOXCAR_LOSSES_TABLE(OPERATOR, FUNCTOR, ALIAS, X) \
  BOXCAR_POWER_TABLE(OPERATOR, FUNCTOR, ALIAS, X) \
  BOXCAR_MEMORY_TABLE(OPERATOR, FUNCTOR, ALIAS, X) \
  BOXCAR_PRODUCTS_TABLE(OPERATOR, FUNCTOR, ALIAS, X)
// clang-format on

#define BOXCAR_NO_LINE(...)
#define BOXCAR_ARITY_Nullary 0
#define BOXCAR_ARITY_Unary 1
#define BOXCAR_ARITY_Binary 2
#define BOXCAR_ARITY_Ternary 3

// X(functor, arity, result, types) for the functors of a table, and for those of all tables.
#define BOXCAR_FUNCTORS_OF(TABLE, X) TABLE(BOXCAR_FUNCTOR_LINE, BOXCAR_FUNCTOR_LINE, BOXCAR_NO_LINE, X)
#define BOXCAR_FUNCTOR_LINE(X, kind, functor, result, types, ...) X(functor, BOXCAR_ARITY_##kind, result, types)
#define BOXCAR_FUNCTORS(X) BOXCAR_FUNCTORS_OF(BOXCAR_POINTWISE_TABLES, X)

namespace boxcar::functors {

#define BOXCAR_DECLARE_FUNCTOR(functor, arity, result, types) \
  template <class T>                                          \
  struct functor;
BOXCAR_FUNCTORS(BOXCAR_DECLARE_FUNCTOR)
#undef BOXCAR_DECLARE_FUNCTOR

// A functor's number. Select, which chooses between two inputs by a condition, is not one of the templates. The last
// two are functions that only CPUs have (native/special_functions.h), so tables of other devices end before them.
#define BOXCAR_ENUMERATOR(functor, arity, result, types) k##functor,
enum class Functor : uint8_t { BOXCAR_FUNCTORS(BOXCAR_ENUMERATOR) kSelect, kUnaryFunction, kBinaryFunction };
#undef BOXCAR_ENUMERATOR
inline constexpr size_t kFunctors = static_cast<size_t>(Functor::kSelect) + 1;

// The number of a functor's template; kSelect for any other template.
template <template <class> class F>
inline constexpr Functor kFunctorOf = Functor::kSelect;
#define BOXCAR_NUMBER_FUNCTOR(functor, arity, result, types) \
  template <>                                                \
  inline constexpr Functor kFunctorOf<functor> = Functor::k##functor;
BOXCAR_FUNCTORS(BOXCAR_NUMBER_FUNCTOR)
#undef BOXCAR_NUMBER_FUNCTOR

}  // namespace boxcar::functors
