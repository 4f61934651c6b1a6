#include <boxcar/backends/cpu/copy.h>
#include <boxcar/backends/cpu/functors.h>
#include <boxcar/backends/cpu/index.h>
#include <boxcar/backends/cpu/reduction.h>
#include <boxcar/backends/shape/views.h>
#include <boxcar/dispatcher/library.h>
#include <boxcar/ivalue/error.h>

#include <limits>
#include <optional>
#include <span>
#include <tuple>

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

template <class T, bool greatest>
inline bool isBetter(T a, T b) {
  return greatest ? a > b : a < b;
}

// The greatest or least value; NaN if there is one.
template <class T, bool greatest>
struct Extreme {
  using Acc = Compute<T>;
  using Out = T;
  static constexpr bool kUnordered = true;
  static Acc identity() { return worstOf<Acc, greatest>(); }
  static Acc take(Acc acc, T x, int64_t) { return merge(acc, static_cast<Acc>(x)); }
  static Acc merge(Acc a, Acc b) { return isBetter<Acc, greatest>(a, b) || isNan(a) ? a : b; }
  static Acc finish(Acc acc, int64_t) { return acc; }
};
template <class T>
using Greatest = Extreme<T, true>;
template <class T>
using Least = Extreme<T, false>;

// Where the first of them is.
template <class T, bool greatest>
struct ExtremeIndex {
  struct Acc {
    Compute<T> value;
    int64_t index;
  };
  using Out = int64_t;
  static constexpr bool kUnordered = false;
  static Acc identity() { return {Compute<T>(0), -1}; }
  static Acc take(Acc acc, T x, int64_t index) { return merge(acc, {static_cast<Compute<T>>(x), index}); }
  static Acc merge(Acc a, Acc b) {
    if (a.index < 0) return b;
    if (b.index < 0 || isNan(a.value)) return a;
    return isBetter<Compute<T>, greatest>(b.value, a.value) || isNan(b.value) ? b : a;
  }
  static int64_t finish(Acc acc, int64_t) { return acc.index; }
};
template <class T>
using GreatestIndex = ExtremeIndex<T, true>;
template <class T>
using LeastIndex = ExtremeIndex<T, false>;

// Whether any element, or every element, is true.
template <class T>
struct Any {
  using Acc = T;
  using Out = T;
  static constexpr bool kUnordered = true;
  static T identity() { return false; }
  static T take(T acc, T x, int64_t) { return acc | x; }
  static T merge(T a, T b) { return a | b; }
  static T finish(T acc, int64_t) { return acc; }
};
template <class T>
struct All : Any<T> {
  static T identity() { return true; }
  static T take(T acc, T x, int64_t) { return acc & x; }
  static T merge(T a, T b) { return a & b; }
};

constexpr Reduction kGreatest = makeReduction<Greatest>("max", kRealAndBoolTypes);
constexpr Reduction kLeast = makeReduction<Least>("min", kRealAndBoolTypes);
constexpr Reduction kGreatestIndex = makeReduction<GreatestIndex>("argmax", kRealAndBoolTypes);
constexpr Reduction kLeastIndex = makeReduction<LeastIndex>("argmin", kRealAndBoolTypes);
constexpr Reduction kAny = makeReduction<Any>("any", kBoolType);
constexpr Reduction kAll = makeReduction<All>("all", kBoolType);

using IntSpan = std::span<const int64_t>;
constexpr uint64_t kEveryDimension = ~uint64_t{0};

uint64_t maskOf(const Tensor& self, int64_t dim) { return uint64_t{1} << wrapDimension(dim, self.dim()); }

// No element has no extreme.
void checkNotEmpty(std::string_view name, const Tensor& self, uint64_t mask) {
  for (size_t i = 0; i < self.sizes().size(); ++i) {
    BOXCAR_CHECK((mask >> i & 1) == 0 || self.sizes()[i] != 0, "{}(): Expected reduction dim {} to have non-zero size.",
                 name, i);
  }
}
void checkDimsGiven(std::string_view name, const Tensor& self) {
  BOXCAR_CHECK(
      self.numel() > 0,
      "{}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the "
      "'dim' argument.",
      name);
}

Tensor extremeOverDims(const Reduction& op, std::string_view name, const Tensor& self, IntSpan dim, bool keepdim) {
  checkOnCpu(self);
  if (dim.empty()) checkDimsGiven(name, self);
  const uint64_t mask = shape::dimensionMask(dim, self.dim());
  checkNotEmpty(name, self, mask);
  return reduce(op, self, mask, keepdim);
}

Tensor amax(const Tensor& self, IntSpan dim, bool keepdim) {
  return extremeOverDims(kGreatest, "amax", self, dim, keepdim);
}
Tensor& amaxOut(const Tensor& self, IntSpan dim, bool keepdim, Tensor& out) {
  return writeResult(out, amax(self, dim, keepdim));
}
Tensor amin(const Tensor& self, IntSpan dim, bool keepdim) {
  return extremeOverDims(kLeast, "amin", self, dim, keepdim);
}
Tensor& aminOut(const Tensor& self, IntSpan dim, bool keepdim, Tensor& out) {
  return writeResult(out, amin(self, dim, keepdim));
}

Tensor max(const Tensor& self) { return extremeOverDims(kGreatest, "max", self, {}, false); }
Tensor min(const Tensor& self) { return extremeOverDims(kLeast, "min", self, {}, false); }

Tensor indexOverDim(const Reduction& op, std::string_view name, const Tensor& self, int64_t dim, bool keepdim) {
  checkOnCpu(self);
  const uint64_t mask = maskOf(self, dim);
  checkNotEmpty(name, self, mask);
  return reduce(op, self, mask, keepdim);
}

// Without a dimension, elements are counted in the order of a contiguous tensor.
Tensor extremeIndex(const Reduction& op, std::string_view name, const Tensor& self, std::optional<int64_t> dim,
                    bool keepdim) {
  if (dim.has_value()) return indexOverDim(op, name, self, *dim, keepdim);
  checkOnCpu(self);
  checkDimsGiven(name, self);
  return reduce(op, toContiguous(self), kEveryDimension, keepdim);
}

Tensor argmax(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  return extremeIndex(kGreatestIndex, "argmax", self, dim, keepdim);
}
Tensor argmin(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  return extremeIndex(kLeastIndex, "argmin", self, dim, keepdim);
}

std::tuple<Tensor, Tensor> valuesAndIndices(const Reduction& op, std::string_view name, const Tensor& self, int64_t dim,
                                            bool keepdim) {
  const Tensor kept = indexOverDim(op, name, self, dim, /*keepdim=*/true);
  const Tensor values = gatherElements(self, wrapDimension(dim, self.dim()), kept);
  if (keepdim || self.dim() == 0) return {values, kept};
  DimVector sizes = toDimVector(kept.sizes());
  sizes.erase(sizes.begin() + wrapDimension(dim, self.dim()));
  DimVector strides(sizes.size(), boost::container::default_init);
  contiguousStrides(sizes, strides);
  return {values.view(sizes, strides, 0), kept.view(sizes, strides, 0)};
}

std::tuple<Tensor, Tensor> maxDim(const Tensor& self, int64_t dim, bool keepdim) {
  return valuesAndIndices(kGreatestIndex, "max", self, dim, keepdim);
}
std::tuple<Tensor, Tensor> minDim(const Tensor& self, int64_t dim, bool keepdim) {
  return valuesAndIndices(kLeastIndex, "min", self, dim, keepdim);
}

// Elements are read as bools: whether they are not zero. The result for uint8 is uint8.
Tensor truth(const Reduction& op, const Tensor& self, uint64_t mask, bool keepdim) {
  checkOnCpu(self);
  if (self.scalar_type() == ScalarType::Bool) return reduce(op, self, mask, keepdim);
  const Tensor result = reduce(op, convertTo(self, ScalarType::Bool), mask, keepdim);
  return self.scalar_type() == ScalarType::Byte ? convertTo(result, ScalarType::Byte) : result;
}

using OptionalDims = std::optional<IntSpan>;

Tensor any(const Tensor& self) { return truth(kAny, self, kEveryDimension, false); }
Tensor anyDim(const Tensor& self, int64_t dim, bool keepdim) { return truth(kAny, self, maskOf(self, dim), keepdim); }
Tensor anyDims(const Tensor& self, OptionalDims dim, bool keepdim) {
  return truth(kAny, self, shape::dimensionMask(dim.value_or(IntSpan()), self.dim()), keepdim);
}
Tensor all(const Tensor& self) { return truth(kAll, self, kEveryDimension, false); }
Tensor allDim(const Tensor& self, int64_t dim, bool keepdim) { return truth(kAll, self, maskOf(self, dim), keepdim); }
Tensor allDims(const Tensor& self, OptionalDims dim, bool keepdim) {
  return truth(kAll, self, shape::dimensionMask(dim.value_or(IntSpan()), self.dim()), keepdim);
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CPU, m) {
  m.impl("amax", BOXCAR_FN(amax));
  m.impl("amax.out", BOXCAR_FN(amaxOut));
  m.impl("amin", BOXCAR_FN(amin));
  m.impl("amin.out", BOXCAR_FN(aminOut));
  m.impl("max", BOXCAR_FN(max));
  m.impl("max.dim", BOXCAR_FN(maxDim));
  m.impl("min", BOXCAR_FN(min));
  m.impl("min.dim", BOXCAR_FN(minDim));
  m.impl("argmax", BOXCAR_FN(argmax));
  m.impl("argmin", BOXCAR_FN(argmin));
  m.impl("any", BOXCAR_FN(any));
  m.impl("any.dim", BOXCAR_FN(anyDim));
  m.impl("any.dims", BOXCAR_FN(anyDims));
  m.impl("all", BOXCAR_FN(all));
  m.impl("all.dim", BOXCAR_FN(allDim));
  m.impl("all.dims", BOXCAR_FN(allDims));
}

}  // namespace boxcar::cpu
