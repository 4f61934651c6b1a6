#include <boxcar/backends/cpu/vector_reductions.h>

#include <cmath>
#include <limits>

namespace boxcar::cpu {
namespace {

template <class T>
struct SumFold {
  static constexpr T kIdentity = 0;
  static T map(T x) { return x; }
  static T fold(T a, T b) { return a + b; }
};
template <class T>
struct SquareFold : SumFold<T> {
  static T map(T x) { return x * x; }
};
template <class T>
struct MagnitudeFold : SumFold<T> {
  static T map(T x) { return std::abs(x); }
};
template <class T, bool greatest>
struct ExtremeFold {
  static constexpr T kIdentity = greatest ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::infinity();
  static T map(T x) { return x; }
  static T fold(T a, T b) { return (greatest ? a > b : a < b) || a != a ? a : b; }
};
template <class T>
using GreatestFold = ExtremeFold<T, true>;
template <class T>
using LeastFold = ExtremeFold<T, false>;

// Several accumulators, so that operations do not depend on each other.
template <class T, class Fold>
T foldRow(const T* in, size_t n) {
  constexpr size_t kLanes = 16;
  T lanes[kLanes];
  for (T& lane : lanes) lane = Fold::kIdentity;
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (size_t k = 0; k < kLanes; ++k) lanes[k] = Fold::fold(lanes[k], Fold::map(in[i + k]));
  }
  for (size_t width = kLanes / 2; width > 0; width /= 2) {
    for (size_t k = 0; k < width; ++k) lanes[k] = Fold::fold(lanes[k], lanes[k + width]);
  }
  T result = lanes[0];
  for (; i < n; ++i) result = Fold::fold(result, Fold::map(in[i]));
  return result;
}

template <class T, class Fold>
void foldRows(T* out, const char* in, int64_t step, int64_t rows, size_t n) {
  for (int64_t i = 0; i < rows; ++i) out[i] = foldRow<T, Fold>(reinterpret_cast<const T*>(in + i * step), n);
}

template <class T, class Fold>
void foldColumns(T* acc, const char* in, int64_t step, int64_t rows, size_t width) {
  for (int64_t i = 0; i < rows; ++i, in += step) {
    const T* x = reinterpret_cast<const T*>(in);
#pragma GCC ivdep
    for (size_t k = 0; k < width; ++k) acc[k] = Fold::fold(acc[k], Fold::map(x[k]));
  }
}

template <class T, template <class> class... Folds>
const VectorReduceRows<T>& rowsOf(VectorReduction reduction) {
  static constexpr VectorReduceRows<T> kRows[] = {
      {foldRow<T, Folds<T>>, foldRows<T, Folds<T>>, foldColumns<T, Folds<T>>}...};
  return kRows[static_cast<size_t>(reduction)];
}

}  // namespace

template <>
const VectorReduceRows<float>& vectorReduceRows<float>(VectorReduction reduction) {
  return rowsOf<float, SumFold, SquareFold, MagnitudeFold, GreatestFold, LeastFold>(reduction);
}
template <>
const VectorReduceRows<double>& vectorReduceRows<double>(VectorReduction reduction) {
  return rowsOf<double, SumFold, SquareFold, MagnitudeFold, GreatestFold, LeastFold>(reduction);
}

}  // namespace boxcar::cpu
