#include <boxcar/backends/cpu/copy.h>
#include <boxcar/backends/cpu/functors.h>
#include <boxcar/backends/cpu/reduction.h>
#include <boxcar/backends/cpu/registration.h>
#include <boxcar/backends/shape/reduction.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <optional>
#include <tuple>

// Where the greatest and the least elements are.

namespace boxcar::cpu {
namespace {

// The place of the first of the greatest or least elements, the first NaN if there is one; as second result, the
// element.
template <class T, bool greatest>
struct ExtremePlace {
  using C = Compute<T>;
  struct Acc {
    C value;
    int64_t index;
  };
  using Out = int64_t;
  using Second = T;
  static constexpr bool kUnordered = false;
  // Of the columns' width, so that it goes as a vector with values of this size.
  using Place = std::conditional_t<sizeof(C) == 8, int64_t, int32_t>;

  static bool isBetter(C a, C b) { return greatest ? a > b : a < b; }
  // Whether [x] takes the place of [value], which stands before it.
  static bool replaces(C x, C value) { return (isNan(x) && !isNan(value)) || isBetter(x, value); }

  static Acc identity() { return {C(0), -1}; }
  static Acc take(Acc acc, T x, int64_t index) { return merge(acc, {static_cast<C>(x), index}); }
  static Acc merge(Acc a, Acc b) {
    if (a.index < 0) return b;
    return b.index >= 0 && replaces(b.value, a.value) ? b : a;
  }
  static int64_t finish(Acc acc, int64_t) { return acc.index; }
  static C second(Acc acc, int64_t) { return acc.value; }

  // The extreme first, which vectors find, then its place.
  static Acc run(const T* x, int64_t n, int64_t index) requires(std::is_same_v<T, C>&& std::is_floating_point_v<C>) {
    if (n == 0) return identity();
    constexpr VectorReduction kKind = greatest ? VectorReduction::kGreatest : VectorReduction::kLeast;
    const C best = vectorReduceRows<C>(kKind).row(x, static_cast<size_t>(n));
    constexpr int64_t kStep = 64;
    const auto is_best = [best](C value) { return (value == best) | (isNan(best) & isNan(value)); };
    int64_t i = 0;
    for (; i + kStep <= n; i += kStep) {
      int found = 0;
      for (int64_t k = 0; k < kStep; ++k) found |= is_best(x[i + k]) ? 1 : 0;
      if (found != 0) break;
    }
    while (!is_best(x[i])) ++i;
    return {x[i], index + i};
  }

  static void columns(Acc* acc, const char* in, int64_t step, int64_t n, int64_t index, int64_t width) {
    constexpr int64_t kWidth = 64;
    for (; width > 0; acc += kWidth, in += kWidth * static_cast<int64_t>(sizeof(T)), width -= kWidth) {
      const int64_t part = std::min(kWidth, width);
      C values[kWidth];
      Place places[kWidth] = {};
      const auto rowAt = [&](int64_t i) { return reinterpret_cast<const T*>(in + i * step); };
      std::copy_n(rowAt(0), part, values);
      for (int64_t i = 1; i < n; ++i) {
        const T* x = rowAt(i);
        for (int64_t k = 0; k < part; ++k) {
          const C value = static_cast<C>(x[k]);
          const bool better = replaces(value, values[k]);
          values[k] = better ? value : values[k];
          places[k] = better ? static_cast<Place>(i) : places[k];
        }
      }
      for (int64_t k = 0; k < part; ++k) acc[k] = merge(acc[k], {values[k], index + places[k]});
    }
  }
};
template <class T>
using GreatestPlace = ExtremePlace<T, true>;
template <class T>
using LeastPlace = ExtremePlace<T, false>;

constexpr Reduction kGreatestPlace = makeReduction<GreatestPlace>("max", kRealAndBoolTypes);
constexpr Reduction kLeastPlace = makeReduction<LeastPlace>("min", kRealAndBoolTypes);

uint64_t checkedMask(std::string_view name, const Tensor& self, int64_t dim) {
  checkCpuOrMeta(self);
  const uint64_t mask = uint64_t{1} << wrapDimension(dim, self.dim());
  shape::checkReducedNotEmpty(name, self, mask);
  return mask;
}

// Without a dimension, elements are counted in the order of a contiguous tensor.
Tensor placeOf(const Reduction& op, std::string_view name, const Tensor& self, std::optional<int64_t> dim,
               bool keepdim) {
  if (dim.has_value()) return reduce(op, self, checkedMask(name, self, *dim), keepdim);
  checkCpuOrMeta(self);
  shape::checkReducedDimsGiven(name, self);
  return reduce(op, toContiguous(self), ~uint64_t{0}, keepdim);
}

Tensor argmax(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  return placeOf(kGreatestPlace, "argmax", self, dim, keepdim);
}
Tensor argmin(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  return placeOf(kLeastPlace, "argmin", self, dim, keepdim);
}
Tensor& argmaxOut(const Tensor& self, std::optional<int64_t> dim, bool keepdim, Tensor& out) {
  shape::checkOutType("argmax", out, ScalarType::Long);
  return writeResult(out, argmax(self, dim, keepdim));
}
Tensor& argminOut(const Tensor& self, std::optional<int64_t> dim, bool keepdim, Tensor& out) {
  shape::checkOutType("argmin", out, ScalarType::Long);
  return writeResult(out, argmin(self, dim, keepdim));
}

std::tuple<Tensor, Tensor> valuesAndPlaces(const Reduction& op, const Tensor& self, int64_t dim, bool keepdim) {
  auto [places, values] = reduceToPair(op, self, checkedMask(op.name, self, dim), keepdim);
  return {std::move(values), std::move(places)};
}

std::tuple<Tensor&, Tensor&> writePair(const Reduction& op, const Tensor& self, int64_t dim, bool keepdim,
                                       Tensor& values, Tensor& places) {
  shape::checkOutType(op.name, values, self.scalar_type());
  shape::checkOutType(op.name, places, ScalarType::Long);
  const auto [extreme, place] = valuesAndPlaces(op, self, dim, keepdim);
  return {writeResult(values, extreme), writeResult(places, place)};
}

std::tuple<Tensor, Tensor> maxDim(const Tensor& self, int64_t dim, bool keepdim) {
  return valuesAndPlaces(kGreatestPlace, self, dim, keepdim);
}
std::tuple<Tensor, Tensor> minDim(const Tensor& self, int64_t dim, bool keepdim) {
  return valuesAndPlaces(kLeastPlace, self, dim, keepdim);
}
std::tuple<Tensor&, Tensor&> maxDimOut(const Tensor& self, int64_t dim, bool keepdim, Tensor& values, Tensor& places) {
  return writePair(kGreatestPlace, self, dim, keepdim, values, places);
}
std::tuple<Tensor&, Tensor&> minDimOut(const Tensor& self, int64_t dim, bool keepdim, Tensor& values, Tensor& places) {
  return writePair(kLeastPlace, self, dim, keepdim, values, places);
}

}  // namespace

BOXCAR_CPU_AND_META(aten, m) {
  m.impl("argmax", BOXCAR_FN(argmax));
  m.impl("argmax.out", BOXCAR_FN(argmaxOut));
  m.impl("argmin", BOXCAR_FN(argmin));
  m.impl("argmin.out", BOXCAR_FN(argminOut));
  m.impl("max.dim", BOXCAR_FN(maxDim));
  m.impl("max.dim_max", BOXCAR_FN(maxDimOut));
  m.impl("min.dim", BOXCAR_FN(minDim));
  m.impl("min.dim_min", BOXCAR_FN(minDimOut));
}

}  // namespace boxcar::cpu
