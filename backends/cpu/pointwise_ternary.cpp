#include <boxcar/backends/cpu/functors.h>
#include <boxcar/backends/cpu/pointwise_registration.h>
#include <boxcar/backends/cpu/pointwise_table.h>
#include <boxcar/backends/cpu/registration.h>
#include <boxcar/ivalue/error.h>

#include <cmath>
#include <complex>
#include <limits>
#include <optional>
#include <type_traits>

namespace boxcar::cpu {
namespace {

// a + value * b * c
template <class T>
struct AddProduct {
  using Parameters = Arguments<const Scalar&>;
  T value;
  explicit AddProduct(const Scalar* params) : value(params->to<T>()) {}
  T operator()(T a, T b, T c) const { return addElements(a, multiplyElements(multiplyElements(value, b), c)); }
};

// a + value * b / c
template <class T>
struct AddQuotient {
  using Parameters = Arguments<const Scalar&>;
  static void check(const Tensor&, const Tensor& tensor1, const Tensor& tensor2, const Scalar&) {
    BOXCAR_CHECK(!(isIntegralType(tensor1.scalar_type(), /*includeBool=*/true) &&
                   isIntegralType(tensor2.scalar_type(), /*includeBool=*/true)),
                 "Integer division with addcdiv is not supported: tensor1 is {} and tensor2 {}. Convert one of them to "
                 "a floating point type.",
                 tensor1.scalar_type(), tensor2.scalar_type());
  }
  T value;
  explicit AddQuotient(const Scalar* params) : value(params->to<T>()) {}
  T operator()(T a, T b, T c) const { return a + divideElements(multiplyElements(value, b), c); }
};

// From the end that is nearer, so that both ends are met exactly.
template <class T>
T interpolate(T start, T end, T weight) {
  return std::abs(weight) < RealOf<T>(0.5) ? start + weight * (end - start) : end - (end - start) * (T(1) - weight);
}

void checkSameType(const Tensor& self, const Tensor& other, std::string_view name) {
  BOXCAR_CHECK(self.scalar_type() == other.scalar_type(), "expected dtype {} for `{}` but got dtype {}",
               self.scalar_type(), name, other.scalar_type());
}

template <class T>
struct Interpolate {
  static void check(const Tensor& self, const Tensor& end, const Tensor& weight) {
    checkSameType(self, end, "end");
    checkSameType(self, weight, "weight");
  }
  T operator()(T start, T end, T weight) const { return interpolate(start, end, weight); }
};

template <class T>
struct InterpolateBy {
  using Parameters = Arguments<const Scalar&>;
  static void check(const Tensor& self, const Tensor& end, const Scalar&) { checkSameType(self, end, "end"); }
  T weight;
  explicit InterpolateBy(const Scalar* params) : weight(params->to<T>()) {}
  T operator()(T start, T end) const { return interpolate(start, end, weight); }
};

template <class T>
struct AtLeast {
  static constexpr VectorPair kVectorPair = VectorPair::kMaximum;
  T operator()(T a, T b) const { return a > b || isNan(a) ? a : b; }
};
template <class T>
struct AtMost {
  static constexpr VectorPair kVectorPair = VectorPair::kMinimum;
  T operator()(T a, T b) const { return a < b || isNan(a) ? a : b; }
};
constexpr const Pointwise& kAtLeast = kPointwise<"clamp_min", AtLeast, 2, Result::kSame, kRealAndBoolTypes>;
constexpr const Pointwise& kAtMost = kPointwise<"clamp_max", AtMost, 2, Result::kSame, kRealAndBoolTypes>;

// NaN is left alone, and a bound that is NaN makes all of it NaN; the upper bound wins over the lower one.
template <class T>
struct Between {
  T operator()(T a, T low, T high) const {
    if (isNan(low)) return low;
    if (isNan(high)) return high;
    const T raised = a < low ? low : a;
    return raised > high ? high : raised;
  }
};
constexpr Pointwise kClamp = makePointwise<Between, 3, Result::kSame>("clamp", kRealTypes);

// The same by two numbers, for floats.
template <class T>
struct BetweenNumbers {
  static constexpr VectorFunction kVector = VectorFunction::kClamp;
  Between<T> between;
  T low, high;
  explicit BetweenNumbers(const Scalar* params) : low(params[0].to<T>()), high(params[1].to<T>()) {}
  T operator()(T a) const { return between(a, low, high); }
};
constexpr Pointwise kClampNumbers = makePointwise<BetweenNumbers, 1, Result::kSame>("clamp", kFloatingTypes);

// The inputs and parameters of clamp by the bounds that there are, handed to [run] with the operator that takes them.
template <class Bound, class Run>
decltype(auto) withBounds(const Tensor& self, const std::optional<Bound>& min, const std::optional<Bound>& max,
                          const Run& run) {
  BOXCAR_CHECK(min.has_value() || max.has_value(), "clamp: at least one of 'min' or 'max' must not be None");
  if (!max.has_value()) return run(kAtLeast, Inputs{self, *min}, nullptr);
  if (!min.has_value()) return run(kAtMost, Inputs{self, *max}, nullptr);
  if constexpr (std::is_same_v<Bound, Scalar>) {
    const Scalar bounds[] = {*min, *max};
    if (self.is_floating_point() && !min->isComplex() && !max->isComplex())
      return run(kClampNumbers, Inputs{self}, bounds);
  }
  return run(kClamp, Inputs{self, *min, *max}, nullptr);
}

template <class Bound>
struct Clamp {
  using Optional = const std::optional<Bound>&;
  static Tensor functional(const Tensor& self, Optional min, Optional max) {
    return withBounds(self, min, max, [](const Pointwise& op, Inputs inputs, const Scalar* params) {
      return pointwise(op, inputs, params);
    });
  }
  static Tensor& inPlace(Tensor& self, Optional min, Optional max) {
    return withBounds(self, min, max, [&](const Pointwise& op, Inputs inputs, const Scalar* params) -> Tensor& {
      return pointwiseInPlace(op, self, inputs, params);
    });
  }
  static Tensor& out(const Tensor& self, Optional min, Optional max, Tensor& out) {
    return withBounds(self, min, max, [&](const Pointwise& op, Inputs inputs, const Scalar* params) -> Tensor& {
      return pointwiseOut(op, out, inputs, params);
    });
  }
};

}  // namespace

BOXCAR_CPU_AND_META(aten, m) {
  BOXCAR_TERNARY_OPERATORS(BOXCAR_REGISTER_POINTWISE)
  m.impl("clamp", BOXCAR_FN(Clamp<Scalar>::functional));
  m.impl("clamp_", BOXCAR_FN(Clamp<Scalar>::inPlace));
  m.impl("clamp.out", BOXCAR_FN(Clamp<Scalar>::out));
  m.impl("clamp.Tensor", BOXCAR_FN(Clamp<Tensor>::functional));
  m.impl("clamp_.Tensor", BOXCAR_FN(Clamp<Tensor>::inPlace));
  m.impl("clamp.Tensor_out", BOXCAR_FN(Clamp<Tensor>::out));
}

}  // namespace boxcar::cpu
