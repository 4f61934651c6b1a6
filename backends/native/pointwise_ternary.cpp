#include <boxcar/backends/functors/clamp_bounds.h>
#include <boxcar/backends/functors/pointwise_table.h>
#include <boxcar/backends/functors/pointwise_ternary.h>
#include <boxcar/backends/native/pointwise_registration.h>
#include <boxcar/backends/native/registration.h>
#include <boxcar/ivalue/error.h>

#include <optional>
#include <type_traits>

namespace boxcar::native {
namespace {

constexpr const Pointwise& kClampMin = kPointwise<"clamp_min", ClampMin, 2, Result::kSame, kRealAndBoolTypes>;

constexpr const Pointwise& kClampMax = kPointwise<"clamp_max", ClampMax, 2, Result::kSame, kRealAndBoolTypes>;

constexpr Pointwise kClamp = makePointwise<Clamp, 3, Result::kSame>("clamp", kRealTypes);

constexpr Pointwise kClampNumbers = makePointwise<ClampScalar, 1, Result::kSame>("clamp", kFloatingTypes);

// Calls [run] with the operator, inputs and parameters of clamp for the given bounds, at least one.
template <class Bound, class Run>
decltype(auto) chosenBy(const Tensor& self, const std::optional<Bound>& min, const std::optional<Bound>& max,
                        const Run& run) {
  if (!max.has_value()) return run(kClampMin, Inputs{self, *min}, nullptr);
  if (!min.has_value()) return run(kClampMax, Inputs{self, *max}, nullptr);
  if constexpr (std::is_same_v<Bound, Scalar>) {
    const Scalar bounds[] = {*min, *max};
    if (self.is_floating_point() && !min->isComplex() && !max->isComplex())
      return run(kClampNumbers, Inputs{self}, bounds);
  }
  return run(kClamp, Inputs{self, *min, *max}, nullptr);
}

template <class Bound, class Run>
decltype(auto) withBounds(const Tensor& self, const std::optional<Bound>& min, const std::optional<Bound>& max,
                          const Run& run) {
  BOXCAR_CHECK(min.has_value() || max.has_value(), "clamp: at least one of 'min' or 'max' must not be None");
  if constexpr (std::is_same_v<Bound, Scalar>) {
    std::optional<Scalar> least;
    std::optional<Scalar> greatest;
    if (min.has_value()) least = lowerBound(self, *min);
    if (max.has_value()) greatest = upperBound(self, *max);
    return chosenBy(self, least, greatest, run);
  } else {
    return chosenBy(self, min, max, run);
  }
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

BOXCAR_NATIVE_KERNELS(aten, m, runPointwise) {
  BOXCAR_REGISTER_POINTWISE(BOXCAR_TERNARY_TABLE, m)
  m.impl("clamp", BOXCAR_FN(Clamp<Scalar>::functional));
  m.impl("clamp_", BOXCAR_FN(Clamp<Scalar>::inPlace));
  m.impl("clamp.out", BOXCAR_FN(Clamp<Scalar>::out));
  m.impl("clamp.Tensor", BOXCAR_FN(Clamp<Tensor>::functional));
  m.impl("clamp_.Tensor", BOXCAR_FN(Clamp<Tensor>::inPlace));
  m.impl("clamp.Tensor_out", BOXCAR_FN(Clamp<Tensor>::out));
}

}  // namespace boxcar::native
