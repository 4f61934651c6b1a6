#pragma once

#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/vector_reductions.h>
#include <boxcar/backends/functors/element.h>
#include <boxcar/ivalue/scalar_type.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

// The inner loops of reductions, generated from a description of each reduction, and the iteration over the elements of
// one result or a row of results, which all reductions share.

namespace boxcar::cpu {

// A row of results and the elements that each is computed from. Steps are in bytes.
struct ReducedRow {
  char* out;
  int64_t out_step;
  char* second;  // null if not wanted
  int64_t second_step;
  int64_t results;
  const char* in;
  int64_t in_step;  // from the first element of one result to the first of the next; 0 if there is one result
  // The reduced dimensions, innermost first; at least one.
  int rank;
  const int64_t* sizes;
  const int64_t* steps;
  int64_t count;  // number of elements per result
  double param;   // the reduction's extra argument
  bool parallel;  // whether threads share the elements of each result
};

// The steps of a reduction on elements of one type. Only the reduction knows the type of its accumulators.
struct Accumulation {
  int64_t acc_size;
  int64_t itemsize;
  int64_t longest_run;  // up to this many elements are accumulated in order
  bool is_quick;        // rows of elements are accumulated by vectors
  int64_t block;        // maximum number of results computed together if their elements are adjacent
  void (*identities)(void* acc, int64_t n);
  // Computes [acc] from [n] contiguous elements.
  void (*run)(void* acc, const void* x, int64_t n, int64_t index, double param);
  // Computes [results] accumulators, each from [n] contiguous elements, [step] bytes after those of the one before.
  // Null if run() is as good.
  void (*runs)(void* acc, const char* in, int64_t step, int64_t results, int64_t n);
  // Accumulates [n] rows of [width] adjacent elements into [width] accumulators.
  void (*columns)(void* acc, const char* in, int64_t step, int64_t n, int64_t index, int64_t width, double param);
  void (*merge)(void* acc, const void* later, int64_t n);
};

// A reduction of elements of [type], which are converted to [computed] first.
struct ReduceLoop {
  const Accumulation* accumulation;
  ScalarType type;
  ScalarType computed;
  // Writes [width] results, starting at the [i]-th one.
  void (*store)(const ReducedRow& row, int64_t i, const void* acc, int64_t width);
};

// Computes the results of [row]. Elements are split in halves, down to short runs that are accumulated in order. The
// error of a sum therefore grows with the logarithm of its length, and threads can take branches of the same tree.
void reduceRow(const ReduceLoop& loop, const ReducedRow& row);

namespace detail {

inline constexpr int64_t kReduceBuffer = 512;  // number of elements gathered into a buffer
inline constexpr int64_t kReduceBlockBytes = 2048;
inline constexpr int64_t kReduceBufferBytes = kReduceBuffer * 16;

// The steps of a reduction Op on elements of T. Op is described in functors/reducer_list.h and may have these members
// for CPUs:
//   kVector                       a VectorReduction that reduces rows to an Acc
//   run(x, n, index)              returns the Acc of [n] contiguous elements
//   columns(acc, in, step, n, index, width)   accumulates [n] rows of [width] elements into [width] accumulators
template <class Op, class T>
class ReduceSteps {
  using Acc = typename Op::Acc;
  static_assert(std::is_trivially_copyable_v<Acc> && alignof(Acc) <= 16);

  static constexpr bool kHasVector = requires { Op::kVector; };
  static constexpr bool kHasRun = requires(const Op& op, const T* x) { op.run(x, int64_t{}, int64_t{}); };
  static constexpr bool kHasColumns = requires(const Op& op, Acc* acc, const char* in) {
    op.columns(acc, in, int64_t{}, int64_t{}, int64_t{}, int64_t{});
  };
  static constexpr int64_t kRun = kHasVector ? 16384 : kHasRun ? 2048 : 512;
  static constexpr int64_t kLanes = 8;
  static constexpr int64_t kBlock = std::max<int64_t>(16, kReduceBlockBytes / std::max(sizeof(Acc), sizeof(T)));
  static_assert(kBlock * sizeof(Acc) <= kReduceBlockBytes && kBlock * sizeof(T) <= kReduceBlockBytes);

  static Op make([[maybe_unused]] double param) {
    if constexpr (std::is_constructible_v<Op, double>) {
      return Op(param);
    } else {
      return Op();
    }
  }

  // Several accumulators, so that additions do not depend on each other.
  static Acc runInLanes(const Op& op, const T* x, int64_t n) {
    Acc lanes[kLanes];
    for (Acc& lane : lanes) lane = Op::identity();
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
#pragma GCC unroll 8
      for (int64_t k = 0; k < kLanes; ++k) lanes[k] = op.take(lanes[k], x[i + k], 0);
    }
    for (int64_t width = kLanes / 2; width > 0; width /= 2) {
#pragma GCC unroll 4
      for (int64_t k = 0; k < width; ++k) lanes[k] = Op::merge(lanes[k], lanes[k + width]);
    }
    Acc acc = lanes[0];
    for (; i < n; ++i) acc = op.take(acc, x[i], 0);
    return acc;
  }

  static Acc runOf(const T* x, int64_t n, [[maybe_unused]] int64_t index, [[maybe_unused]] double param) {
    if constexpr (kHasRun) {
      return make(param).run(x, n, index);
    } else if constexpr (kHasVector) {
      return vectorReduceRows<T>(Op::kVector).row(x, static_cast<size_t>(n));
    } else if constexpr (Op::kUnordered) {
      return runInLanes(make(param), x, n);
    } else {
      const Op op = make(param);
      Acc acc = Op::identity();
      for (int64_t i = 0; i < n; ++i) acc = op.take(acc, x[i], index + i);
      return acc;
    }
  }

  static void run(void* acc, const void* x, int64_t n, int64_t index, double param) {
    *static_cast<Acc*>(acc) = runOf(static_cast<const T*>(x), n, index, param);
  }

  static void runs(void* acc, const char* in, int64_t step, int64_t results, int64_t n) {
    if constexpr (kHasVector) {
      vectorReduceRows<T>(Op::kVector).rows(static_cast<Acc*>(acc), in, step, results, static_cast<size_t>(n));
    }
  }
  static constexpr auto kRuns = kHasVector && !kHasRun ? &runs : nullptr;

  static void columns(void* accumulators, const char* in, int64_t step, int64_t n, [[maybe_unused]] int64_t index,
                      int64_t width, [[maybe_unused]] double param) {
    Acc* acc = static_cast<Acc*>(accumulators);
    if constexpr (kHasColumns) {
      make(param).columns(acc, in, step, n, index, width);
    } else if constexpr (kHasVector) {
      vectorReduceRows<T>(Op::kVector).columns(acc, in, step, n, static_cast<size_t>(width));
    } else {
      const Op op = make(param);
      for (int64_t i = 0; i < n; ++i, in += step) {
        const T* x = reinterpret_cast<const T*>(in);
#pragma GCC ivdep
        for (int64_t k = 0; k < width; ++k) acc[k] = op.take(acc[k], x[k], index + i);
      }
    }
  }

  static void identities(void* acc, int64_t n) { std::fill_n(static_cast<Acc*>(acc), n, Op::identity()); }

  static void merge(void* acc, const void* later, int64_t n) {
    Acc* a = static_cast<Acc*>(acc);
    const Acc* b = static_cast<const Acc*>(later);
    for (int64_t k = 0; k < n; ++k) a[k] = Op::merge(a[k], b[k]);
  }

 public:
  static constexpr Accumulation kAccumulation = {
      sizeof(Acc), sizeof(T), kRun, kHasVector && !kHasRun, kBlock, identities, run, kRuns, columns, merge};

  // Writes results as elements of Out and of Second.
  template <class Out, class Second>
  static void store(const ReducedRow& row, int64_t i, const void* accumulators, int64_t width) {
    const Op op = make(row.param);
    const Acc* acc = static_cast<const Acc*>(accumulators);
    for (int64_t k = 0; k < width; ++k, ++i) {
      *reinterpret_cast<Out*>(row.out + i * row.out_step) = static_cast<Out>(op.finish(acc[k], row.count));
      if constexpr (!std::is_void_v<Second>) {
        if (row.second == nullptr) continue;
        *reinterpret_cast<Second*>(row.second + i * row.second_step) =
            static_cast<Second>(op.second(acc[k], row.count));
      }
    }
  }
};

template <class Op>
struct SecondOf {
  using type = void;
};
template <class Op>
requires requires { typename Op::Second; }
struct SecondOf<Op> {
  using type = typename Op::Second;
};

}  // namespace detail

// Names the reduction that Op accumulates like.
template <class Op>
struct AccumulatesAs {
  using type = Op;
};

// The types that reductions convert elements to, so that a few loops cover all types.
template <class T>
struct AsComputed : std::type_identity<Compute<T>> {};
template <class T>
struct AsBool : std::type_identity<bool> {};
// For reductions that wrap.
template <class T>
struct AsLong : std::type_identity<std::conditional_t<std::is_integral_v<T>, int64_t, Compute<T>>> {};
// For reductions that compare.
template <class T>
struct AsInt : std::type_identity<
                   std::conditional_t<std::is_integral_v<T> && (sizeof(T) < sizeof(int32_t)), int32_t, Compute<T>>> {};

// The loop of a reduction for elements of T.
template <template <class> class Op, template <class> class As, class T>
inline constexpr ReduceLoop kReduceLoop = {
    &detail::ReduceSteps<typename AccumulatesAs<Op<typename As<T>::type>>::type, typename As<T>::type>::kAccumulation,
    scalarTypeOf<T>, scalarTypeOf<typename As<T>::type>,
    detail::ReduceSteps<Op<typename As<T>::type>, typename As<T>::type>::template store<
        typename Op<T>::Out, typename detail::SecondOf<Op<T>>::type>};

}  // namespace boxcar::cpu
