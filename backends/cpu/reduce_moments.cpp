#include <boxcar/backends/cpu/moments.h>
#include <boxcar/backends/cpu/reduction.h>
#include <boxcar/backends/functors/reduce_moments.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace boxcar::cpu {
namespace {

// Op, Var or Std, computed on whole rows.
template <class T, class Op>
struct MomentRows : Op {
  using Op::Op;
  using Acc = typename Op::Acc;
  using Part = typename Op::Part;

  static Acc run(const T* x, int64_t n, int64_t) requires(!kIsComplex<T>) {
    if (n == 0) return Op::identity();
    return rowMoments(x, n);
  }

  static void columns(Acc* acc, const char* in, int64_t step, int64_t n, int64_t,
                      int64_t width) requires(!kIsComplex<T>) {
    constexpr int64_t kWidth = 64;
    const auto count = static_cast<double>(n);
    for (; width > 0; acc += kWidth, in += kWidth * sizeof(T), width -= kWidth) {
      const int64_t part = std::min(kWidth, width);
      double means[kWidth] = {};
      double squares[kWidth] = {};
      const auto forRows = [&](auto&& take) {
        for (int64_t i = 0; i < n; ++i) {
          const T* x = reinterpret_cast<const T*>(in + i * step);
          for (int64_t k = 0; k < part; ++k) take(k, static_cast<double>(static_cast<Part>(x[k])));
        }
      };
      forRows([&](int64_t k, double x) { means[k] += x; });
      for (double& mean : means) mean /= count;
      forRows([&](int64_t k, double x) { squares[k] += (x - means[k]) * (x - means[k]); });
      for (int64_t k = 0; k < part; ++k) acc[k] = Op::merge(acc[k], {count, means[k], squares[k]});
    }
  }
};

template <class T>
struct VarianceRows : MomentRows<T, functors::Var<T>> {
  using MomentRows<T, functors::Var<T>>::MomentRows;
};
template <class T>
struct DeviationRows : MomentRows<T, functors::Std<T>> {
  using MomentRows<T, functors::Std<T>>::MomentRows;
};

}  // namespace

template <class T>
struct AccumulatesAs<DeviationRows<T>> {
  using type = VarianceRows<T>;
};

BOXCAR_DEFINE_REDUCE_LOOPS(Var, VarianceRows, AsComputed, functors::kContinuousTypes)
BOXCAR_DEFINE_REDUCE_LOOPS(Std, DeviationRows, AsComputed, functors::kContinuousTypes)

}  // namespace boxcar::cpu
