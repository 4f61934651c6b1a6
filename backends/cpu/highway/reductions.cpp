#include <boxcar/backends/cpu/vector_reductions.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boxcar/backends/cpu/highway/reductions.cpp"
#include <hwy/foreach_target.h>
// These headers must follow foreach_target.h.
#include <boxcar/backends/cpu/highway/rows-inl.h>
#include <hwy/cache_control.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace boxcar::cpu::HWY_NAMESPACE {
namespace {

struct SumFold {
  template <class T>
  static constexpr T kIdentity = 0;
  template <class D, class V>
  static HWY_INLINE V map(D, V x) {
    return x;
  }
  template <class D, class V>
  static HWY_INLINE V fold(D, V a, V b) {
    return hn::Add(a, b);
  }
  template <class D, class V>
  static HWY_INLINE auto across(D d, V a) {
    return hn::GetLane(hn::SumOfLanes(d, a));
  }
};

struct SquareFold : SumFold {
  template <class D, class V>
  static HWY_INLINE V map(D, V x) {
    return hn::Mul(x, x);
  }
};

struct MagnitudeFold : SumFold {
  template <class D, class V>
  static HWY_INLINE V map(D, V x) {
    return hn::Abs(x);
  }
};

template <bool greatest>
struct ExtremeFold {
  template <class T>
  static constexpr T kIdentity = greatest ? -kInfinity<T> : kInfinity<T>;
  template <class D, class V>
  static HWY_INLINE V map(D, V x) {
    return x;
  }
  // Max and Min drop NaN on some CPUs.
  template <class D, class V>
  static HWY_INLINE V fold(D, V a, V b) {
    const auto keeps = greatest ? hn::Gt(a, b) : hn::Lt(a, b);
    return hn::IfThenElse(hn::Or(keeps, hn::IsNaN(a)), a, b);
  }
  template <class D, class V>
  static HWY_INLINE auto across(D d, V a) {
    using T = hn::TFromD<D>;
    const T nan = std::numeric_limits<T>::quiet_NaN();
    if (!hn::AllFalse(d, hn::IsNaN(a))) return nan;
    return hn::GetLane(greatest ? hn::MaxOfLanes(d, a) : hn::MinOfLanes(d, a));
  }
};

// Folds eight vectors at a time. Prefetches in long rows, because the hardware prefetcher stops at page boundaries.
template <class Fold, class T>
T foldBlock(const T* in, size_t n) {
  constexpr size_t kLong = 4096;
  constexpr uintptr_t kLine = 64;
  constexpr uintptr_t kAhead = 2048;
  const hn::ScalableTag<T> d;
  const hn::CappedTag<T, 1> one;
  const size_t lanes = hn::Lanes(d);
  const size_t eight = 8 * lanes;
  const auto at = [&](size_t i) HWY_ATTR { return Fold::map(d, hn::LoadU(d, in + i)); };
  T result = Fold::template kIdentity<T>;
  size_t i = 0;
  if (n >= lanes) {
    auto a = hn::Set(d, result);
    if (n >= eight) {
      auto b = a;
      auto c = a;
      auto e = a;
      auto a2 = a;
      auto b2 = a;
      auto c2 = a;
      auto e2 = a;
      for (; i + eight <= n; i += eight) {
        if (n >= kLong) {
          const auto ahead = reinterpret_cast<uintptr_t>(in + i) + kAhead;
          for (uintptr_t line = 0; line < eight * sizeof(T); line += kLine) {
            // NOLINTNEXTLINE(performance-no-int-to-ptr): past the end no pointer may be computed
            hwy::Prefetch(reinterpret_cast<const char*>(ahead + line));
          }
        }
        a = Fold::fold(d, a, at(i));
        b = Fold::fold(d, b, at(i + lanes));
        c = Fold::fold(d, c, at(i + 2 * lanes));
        e = Fold::fold(d, e, at(i + 3 * lanes));
        a2 = Fold::fold(d, a2, at(i + 4 * lanes));
        b2 = Fold::fold(d, b2, at(i + 5 * lanes));
        c2 = Fold::fold(d, c2, at(i + 6 * lanes));
        e2 = Fold::fold(d, e2, at(i + 7 * lanes));
      }
      a = Fold::fold(d, Fold::fold(d, a, a2), Fold::fold(d, b, b2));
      c = Fold::fold(d, Fold::fold(d, c, c2), Fold::fold(d, e, e2));
      a = Fold::fold(d, a, c);
    }
    for (; i + lanes <= n; i += lanes) a = Fold::fold(d, a, at(i));
    result = Fold::across(d, a);
  }
  for (; i < n; ++i) {
    result = hn::GetLane(Fold::fold(one, hn::Set(one, result), Fold::map(one, hn::Set(one, in[i]))));
  }
  return result;
}

// Folds halves of long rows apart, so that the error of a sum grows with the logarithm of its length: the lanes of
// narrow vectors alone are too few for that.
template <class Fold, class T>
T foldRow(const T* in, size_t n) {
  const size_t block = 64 * 8 * hn::Lanes(hn::ScalableTag<T>());
  if (n <= block) return foldBlock<Fold, T>(in, n);
  const size_t half = (n / 2 + block - 1) / block * block;
  const hn::CappedTag<T, 1> one;
  return hn::GetLane(
      Fold::fold(one, hn::Set(one, foldRow<Fold, T>(in, half)), hn::Set(one, foldRow<Fold, T>(in + half, n - half))));
}

template <class Fold, class T>
void foldRows(T* out, const char* in, int64_t step, int64_t rows, size_t n) {
  constexpr int64_t kLine = 64;
  constexpr int64_t kAhead = 2048;
  const auto bytes = static_cast<int64_t>(n * sizeof(T));
  // Short rows are prefetched some rows ahead; long ones prefetch themselves.
  const int64_t ahead = bytes < kAhead && step > 0 ? (kAhead / step + 1) * step : 0;
  for (int64_t i = 0; i < rows; ++i, in += step) {
    for (int64_t line = 0; ahead != 0 && line < bytes; line += kLine) {
      // NOLINTNEXTLINE(performance-no-int-to-ptr): past the end no pointer may be computed
      hwy::Prefetch(
          reinterpret_cast<const char*>(reinterpret_cast<uintptr_t>(in) + static_cast<uintptr_t>(ahead + line)));
    }
    out[i] = foldRow<Fold, T>(reinterpret_cast<const T*>(in), n);
  }
}

// Folds columns [k, k + lanes) of all rows; four rows are combined before they reach the accumulator.
template <class Fold, class D, class T>
HWY_INLINE void foldLanes(D d, T* acc, const char* in, int64_t step, size_t k) {
  const auto at = [&](int64_t i)
                      HWY_ATTR { return Fold::map(d, hn::LoadU(d, reinterpret_cast<const T*>(in + i * step) + k)); };
  const auto four = Fold::fold(d, Fold::fold(d, at(0), at(1)), Fold::fold(d, at(2), at(3)));
  hn::StoreU(Fold::fold(d, hn::LoadU(d, acc + k), four), d, acc + k);
}

template <class Fold, class T>
void foldColumns(T* acc, const char* in, int64_t step, int64_t rows, size_t width) {
  const hn::ScalableTag<T> d;
  const hn::CappedTag<T, 1> one;
  const size_t lanes = hn::Lanes(d);
  int64_t i = 0;
  for (; i + 4 <= rows; i += 4, in += 4 * step) {
    size_t k = 0;
    for (; k + lanes <= width; k += lanes) foldLanes<Fold>(d, acc, in, step, k);
    for (; k < width; ++k) foldLanes<Fold>(one, acc, in, step, k);
  }
  for (; i < rows; ++i, in += step) {
    const T* x = reinterpret_cast<const T*>(in);
    size_t k = 0;
    for (; k + lanes <= width; k += lanes) {
      hn::StoreU(Fold::fold(d, hn::LoadU(d, acc + k), Fold::map(d, hn::LoadU(d, x + k))), d, acc + k);
    }
    for (; k < width; ++k) {
      hn::StoreU(Fold::fold(one, hn::LoadU(one, acc + k), Fold::map(one, hn::LoadU(one, x + k))), one, acc + k);
    }
  }
}

template <class Fold, class T>
constexpr VectorReduceRows<T> kFoldRows = {foldRow<Fold, T>, foldRows<Fold, T>, foldColumns<Fold, T>};

// In the order of VectorReduction.
template <class T>
constexpr VectorReduceRows<T> kRows[] = {kFoldRows<SumFold, T>, kFoldRows<SquareFold, T>, kFoldRows<MagnitudeFold, T>,
                                         kFoldRows<ExtremeFold<true>, T>, kFoldRows<ExtremeFold<false>, T>};

const VectorReduceRows<float>* floatRows() { return kRows<float>; }
const VectorReduceRows<double>* doubleRows() { return kRows<double>; }

}  // namespace
}  // namespace boxcar::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace boxcar::cpu {

BOXCAR_VECTOR_EXPORT(floatRows);
BOXCAR_VECTOR_EXPORT(doubleRows);

template <>
const VectorReduceRows<float>& vectorReduceRows<float>(VectorReduction reduction) {
  return BOXCAR_VECTOR_CALL(floatRows)()[static_cast<size_t>(reduction)];
}
template <>
const VectorReduceRows<double>& vectorReduceRows<double>(VectorReduction reduction) {
  return BOXCAR_VECTOR_CALL(doubleRows)()[static_cast<size_t>(reduction)];
}

}  // namespace boxcar::cpu
#endif
