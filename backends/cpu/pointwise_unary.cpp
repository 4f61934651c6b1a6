#include <boxcar/backends/cpu/copy.h>
#include <boxcar/backends/cpu/functors.h>
#include <boxcar/backends/cpu/pointwise_registration.h>

#include <cmath>
#include <complex>

namespace boxcar::cpu {
namespace {

template <class T>
struct Negative {
  T operator()(T a) const { return subtractElements(T(0), a); }
};
template <class T>
requires(std::is_floating_point_v<T> || kIsComplex<T>) struct Negative<T> {
  // Zero changes its sign too.
  T operator()(T a) const { return -a; }
};

template <class T>
struct Absolute {
  RealOf<T> operator()(T a) const {
    if constexpr (kIsInteger<T>) {
      return a < 0 ? subtractElements(T(0), a) : a;
    } else {
      return std::abs(a);
    }
  }
};

template <class T>
struct Exponential {
  T operator()(T a) const { return std::exp(a); }
};

template <class T>
struct Logarithm {
  T operator()(T a) const { return std::log(a); }
};

template <class T>
struct SquareRoot {
  T operator()(T a) const { return std::sqrt(a); }
};

template <class T>
struct ReciprocalSquareRoot {
  T operator()(T a) const { return T(1) / std::sqrt(a); }
};

template <class T>
struct Reciprocal {
  T operator()(T a) const { return T(1) / a; }
};

template <class T>
struct Sine {
  T operator()(T a) const { return std::sin(a); }
};

template <class T>
struct Cosine {
  T operator()(T a) const { return std::cos(a); }
};

template <class T>
struct HyperbolicTangent {
  T operator()(T a) const { return std::tanh(a); }
};

template <class T>
struct Sigmoid {
  T operator()(T a) const { return T(1) / (T(1) + std::exp(-a)); }
};

template <class T>
struct Rectified {
  // NaN stays NaN.
  T operator()(T a) const { return a < T(0) ? T(0) : a; }
};

template <class T>
struct Floor {
  T operator()(T a) const { return std::floor(a); }
};
template <class T>
struct Ceiling {
  T operator()(T a) const { return std::ceil(a); }
};
template <class T>
struct Rounded {
  T operator()(T a) const { return std::nearbyint(a); }
};
// Integers are whole already.
template <std::integral T>
struct Floor<T> {
  T operator()(T a) const { return a; }
};
template <std::integral T>
struct Ceiling<T> {
  T operator()(T a) const { return a; }
};
template <std::integral T>
struct Rounded<T> {
  T operator()(T a) const { return a; }
};

template <class T>
struct BitwiseNot {
  T operator()(T a) const {
    if constexpr (std::is_same_v<T, bool>) {
      return !a;
    } else {
      return static_cast<T>(~a);
    }
  }
};

template <class T>
struct IsNan {
  bool operator()(T a) const { return isNan(a); }
};

constexpr auto kNumberTypes = kRealTypes + kComplexTypes;
constexpr auto kContinuousTypes = kFloatingTypes + kComplexTypes;

using Negation = Unary<"neg", Negative, Result::kSame, kNumberTypes>;
using Rectification = Unary<"relu", Rectified, Result::kSame, kRealTypes>;
using Magnitude = Unary<"abs", Absolute, Result::kReal, kAllTypes>;

void checkNegation(const Tensor& self) {
  BOXCAR_CHECK(self.scalar_type() != ScalarType::Bool,
               "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use "
               "the `~` or `logical_not()` operator instead.");
}

Tensor neg(const Tensor& self) {
  checkNegation(self);
  return Negation::functional(self);
}
Tensor& negInPlace(Tensor& self) {
  checkNegation(self);
  return Negation::inPlace(self);
}
Tensor& negOut(const Tensor& self, Tensor& out) {
  checkNegation(self);
  return Negation::out(self, out);
}

void checkRectification(const Tensor& self) {
  BOXCAR_CHECK(self.scalar_type() != ScalarType::Bool, "Boolean inputs not supported for relu");
}

Tensor relu(const Tensor& self) {
  checkRectification(self);
  return Rectification::functional(self);
}
Tensor& reluInPlace(Tensor& self) {
  checkRectification(self);
  return Rectification::inPlace(self);
}
Tensor& reluOut(const Tensor& self, Tensor& out) {
  checkRectification(self);
  return Rectification::out(self, out);
}

Tensor& absInPlace(Tensor& self) {
  BOXCAR_CHECK(!self.is_complex(), "In-place abs is not supported for complex tensors.");
  return Magnitude::inPlace(self);
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CPU, m) {
  m.impl("neg", BOXCAR_FN(neg));
  m.impl("neg_", BOXCAR_FN(negInPlace));
  m.impl("neg.out", BOXCAR_FN(negOut));
  m.impl("relu", BOXCAR_FN(relu));
  m.impl("relu_", BOXCAR_FN(reluInPlace));
  m.impl("relu.out", BOXCAR_FN(reluOut));
  m.impl("abs_", BOXCAR_FN(absInPlace));

  // operator, functor, result, element types, overloads
  registerUnary<"abs", Absolute, Result::kReal, kAllTypes, kFunctional | kOut>(m);
  registerUnary<"exp", Exponential, Result::kFloat, kContinuousTypes>(m);
  registerUnary<"log", Logarithm, Result::kFloat, kContinuousTypes>(m);
  registerUnary<"sqrt", SquareRoot, Result::kFloat, kContinuousTypes>(m);
  registerUnary<"rsqrt", ReciprocalSquareRoot, Result::kFloat, kContinuousTypes>(m);
  registerUnary<"reciprocal", Reciprocal, Result::kFloat, kContinuousTypes>(m);
  registerUnary<"sin", Sine, Result::kFloat, kContinuousTypes>(m);
  registerUnary<"cos", Cosine, Result::kFloat, kContinuousTypes>(m);
  registerUnary<"tanh", HyperbolicTangent, Result::kFloat, kContinuousTypes>(m);
  registerUnary<"sigmoid", Sigmoid, Result::kFloat, kContinuousTypes>(m);

  registerUnary<"floor", Floor, Result::kSame, kRealTypes>(m);
  registerUnary<"ceil", Ceiling, Result::kSame, kRealTypes>(m);
  registerUnary<"round", Rounded, Result::kSame, kRealTypes>(m);
  registerUnary<"bitwise_not", BitwiseNot, Result::kSame, kBoolType + kIntegralTypes>(m);
  registerUnary<"logical_not", BitwiseNot, Result::kTruth, kBoolType>(m);
  registerUnary<"isnan", IsNan, Result::kBool, kAllTypes, kFunctional>(m);
}

}  // namespace boxcar::cpu
