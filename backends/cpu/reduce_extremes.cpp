#include <boxcar/backends/cpu/copy.h>
#include <boxcar/backends/cpu/functors.h>
#include <boxcar/backends/cpu/reduction.h>
#include <boxcar/backends/cpu/registration.h>
#include <boxcar/backends/shape/reduction.h>
#include <boxcar/backends/shape/views.h>
#include <boxcar/ivalue/error.h>

#include <limits>
#include <optional>
#include <span>
#include <tuple>

// Greatest and least elements.

namespace boxcar::cpu {
namespace {

// The value that any other replaces.
template <class T, bool greatest>
constexpr T worstOf() {
  using Limits = std::numeric_limits<T>;
  if constexpr (Limits::has_infinity) {
    return greatest ? -Limits::infinity() : Limits::infinity();
  } else {
    return greatest ? Limits::lowest() : Limits::max();
  }
}

// The greatest or least value; NaN if there is one.
template <class T, bool greatest>
struct Extreme : VectorReduced<Compute<T>, greatest ? VectorReduction::kGreatest : VectorReduction::kLeast> {
  using Acc = Compute<T>;
  using Out = T;
  static constexpr bool kUnordered = true;
  static Acc identity() { return worstOf<Acc, greatest>(); }
  static Acc take(Acc acc, T x, int64_t) { return merge(acc, static_cast<Acc>(x)); }
  static Acc merge(Acc a, Acc b) { return (greatest ? a > b : a < b) || isNan(a) ? a : b; }
  static Acc finish(Acc acc, int64_t) { return acc; }
};
template <class T>
using Greatest = Extreme<T, true>;
template <class T>
using Least = Extreme<T, false>;

// Both: the least and, as second result, the greatest.
template <class T>
struct LeastAndGreatest {
  struct Acc {
    Compute<T> least;
    Compute<T> greatest;
  };
  using Out = T;
  using Second = T;
  static constexpr bool kUnordered = true;
  static Acc identity() { return {Least<T>::identity(), Greatest<T>::identity()}; }
  static Acc take(Acc acc, T x, int64_t) {
    return {Least<T>::take(acc.least, x, 0), Greatest<T>::take(acc.greatest, x, 0)};
  }
  static Acc merge(Acc a, Acc b) {
    return {Least<T>::merge(a.least, b.least), Greatest<T>::merge(a.greatest, b.greatest)};
  }
  static Compute<T> finish(Acc acc, int64_t) { return acc.least; }
  static Compute<T> second(Acc acc, int64_t) { return acc.greatest; }
};

constexpr Reduction kGreatest = makeReduction<Greatest>("max", kRealAndBoolTypes);
constexpr Reduction kLeast = makeReduction<Least>("min", kRealAndBoolTypes);
constexpr Reduction kLeastAndGreatest = makeReduction<LeastAndGreatest>("aminmax", kRealAndBoolTypes);

using IntSpan = std::span<const int64_t>;

Tensor overDims(const Reduction& op, std::string_view name, const Tensor& self, IntSpan dim, bool keepdim) {
  checkCpuOrMeta(self);
  if (dim.empty()) shape::checkReducedDimsGiven(name, self);
  const uint64_t mask = shape::dimensionMask(dim, self.dim());
  shape::checkReducedNotEmpty(name, self, mask);
  return reduce(op, self, mask, keepdim);
}

Tensor& overDimsOut(const Reduction& op, std::string_view name, const Tensor& self, IntSpan dim, bool keepdim,
                    Tensor& out) {
  shape::checkOutType(name, out, self.scalar_type());
  return writeResult(out, overDims(op, name, self, dim, keepdim));
}

Tensor amax(const Tensor& self, IntSpan dim, bool keepdim) { return overDims(kGreatest, "amax", self, dim, keepdim); }
Tensor& amaxOut(const Tensor& self, IntSpan dim, bool keepdim, Tensor& out) {
  return overDimsOut(kGreatest, "amax", self, dim, keepdim, out);
}
Tensor amin(const Tensor& self, IntSpan dim, bool keepdim) { return overDims(kLeast, "amin", self, dim, keepdim); }
Tensor& aminOut(const Tensor& self, IntSpan dim, bool keepdim, Tensor& out) {
  return overDimsOut(kLeast, "amin", self, dim, keepdim, out);
}

Tensor max(const Tensor& self) { return overDims(kGreatest, "max", self, {}, false); }
Tensor min(const Tensor& self) { return overDims(kLeast, "min", self, {}, false); }
Tensor& maxOut(const Tensor& self, Tensor& out) { return overDimsOut(kGreatest, "max", self, {}, false, out); }
Tensor& minOut(const Tensor& self, Tensor& out) { return overDimsOut(kLeast, "min", self, {}, false, out); }

std::tuple<Tensor, Tensor> aminmax(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  checkCpuOrMeta(self);
  if (!dim.has_value()) {
    BOXCAR_CHECK(self.numel() > 0,
                 "aminmax(): cannot compute aminmax over an empty dimension as the operation has no "
                 "identity.");
    return reduceToPair(kLeastAndGreatest, self, ~uint64_t{0}, keepdim);
  }
  const uint64_t mask = uint64_t{1} << wrapDimension(*dim, self.dim());
  shape::checkReducedNotEmpty("aminmax", self, mask);
  return reduceToPair(kLeastAndGreatest, self, mask, keepdim);
}

std::tuple<Tensor&, Tensor&> aminmaxOut(const Tensor& self, std::optional<int64_t> dim, bool keepdim, Tensor& least,
                                        Tensor& greatest) {
  shape::checkOutType("aminmax", least, self.scalar_type());
  shape::checkOutType("aminmax", greatest, self.scalar_type());
  const auto [low, high] = aminmax(self, dim, keepdim);
  return {writeResult(least, low), writeResult(greatest, high)};
}

}  // namespace

BOXCAR_CPU_AND_META(aten, m) {
  m.impl("amax", BOXCAR_FN(amax));
  m.impl("amax.out", BOXCAR_FN(amaxOut));
  m.impl("amin", BOXCAR_FN(amin));
  m.impl("amin.out", BOXCAR_FN(aminOut));
  m.impl("max", BOXCAR_FN(max));
  m.impl("max.unary_out", BOXCAR_FN(maxOut));
  m.impl("min", BOXCAR_FN(min));
  m.impl("min.unary_out", BOXCAR_FN(minOut));
  m.impl("aminmax", BOXCAR_FN(aminmax));
  m.impl("aminmax.out", BOXCAR_FN(aminmaxOut));
}

}  // namespace boxcar::cpu
