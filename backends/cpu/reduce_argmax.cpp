#include <boxcar/backends/cpu/reduction.h>
#include <boxcar/backends/cpu/vector_reductions.h>
#include <boxcar/backends/functors/arithmetic.h>
#include <boxcar/backends/functors/reduce_argmax.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace boxcar::cpu {
namespace {

// Op, Argmax or Argmin, computed on whole rows.
template <class T, bool greatest>
struct PlaceRows : functors::ExtremePlace<T, greatest> {
  using Op = functors::ExtremePlace<T, greatest>;
  using Acc = typename Op::Acc;
  using C = typename Op::C;
  // As wide as the columns' elements, so that both vectorise together.
  using Place = std::conditional_t<sizeof(C) == 8, int64_t, int32_t>;

  // Finds the extreme value with vector code first, then its position.
  static Acc run(const T* x, int64_t n, int64_t index) requires(std::is_same_v<T, C>&& std::is_floating_point_v<C>) {
    if (n == 0) return Op::identity();
    constexpr VectorReduction kKind = greatest ? VectorReduction::kAmax : VectorReduction::kAmin;
    const C best = vectorReduceRows<C>(kKind).row(x, static_cast<size_t>(n));
    constexpr int64_t kHeaviside = 64;
    const bool finds_nan = isNan(best);
    const auto is_best = [=](C value) { return (value == best) | (finds_nan & isNan(value)); };
    int64_t i = 0;
    for (; i + kHeaviside <= n; i += kHeaviside) {
      int found = 0;
      for (int64_t k = 0; k < kHeaviside; ++k) found |= is_best(x[i + k]) ? 1 : 0;
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
          const bool better = Op::replaces(value, values[k]);
          values[k] = better ? value : values[k];
          places[k] = better ? static_cast<Place>(i) : places[k];
        }
      }
      for (int64_t k = 0; k < part; ++k) acc[k] = Op::merge(acc[k], {values[k], index + places[k]});
    }
  }
};
template <class T>
using GreatestPlaceRows = PlaceRows<T, true>;
template <class T>
using LeastPlaceRows = PlaceRows<T, false>;

}  // namespace

BOXCAR_DEFINE_REDUCE_LOOPS(Argmax, GreatestPlaceRows, AsInt, kRealAndBoolTypes)
BOXCAR_DEFINE_REDUCE_LOOPS(Argmin, LeastPlaceRows, AsInt, kRealAndBoolTypes)

}  // namespace boxcar::cpu
