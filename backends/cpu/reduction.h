#pragma once

#include <boxcar/backends/cpu/element.h>
#include <boxcar/backends/cpu/iterator.h>
#include <boxcar/ivalue/tensor.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace boxcar::cpu {

// A row of results and the elements that each is made of. Steps are in bytes.
struct ReducedRow {
  char* out;
  int64_t out_step;
  int64_t results;
  const char* in;
  int64_t in_step;  // from the first element of a result to that of the next
  // The reduced dimensions, innermost first; one at least.
  int rank;
  const int64_t* sizes;
  const int64_t* steps;
  int64_t count;  // elements of each result
};

using ReduceLoop = void (*)(const ReducedRow& row);

// A reduction: its name in messages, and for each element type that it takes an inner loop and the type of its result.
struct Reduction {
  std::string_view name;
  std::array<ReduceLoop, kScalarTypes> loops{};
  std::array<ScalarType, kScalarTypes> results{};

  // The type of the result of elements of [type]; an Error when there is none.
  ScalarType resultType(ScalarType type) const;
};

// Reduces the dimensions of [mask] of [self] to [out], which has the result's type and sizes, with or without the
// reduced dimensions.
void reduce(const Reduction& op, const Tensor& out, const Tensor& self, uint64_t mask);

// The same, giving a new tensor.
Tensor reduce(const Reduction& op, const Tensor& self, uint64_t mask, bool keepdim);

namespace detail {

// The inner loops of a reduction Op, which has
//   Acc, Out                      what is accumulated, and the element type of the result
//   identity()                    the Acc of no element
//   take(acc, x, index)           [acc] with one more element, whose place in the row is [index]
//   merge(a, b)                   the Acc of the elements of both, those of [a] being before those of [b]
//   finish(acc, count)            the result
// Rows are halved down to short runs that are accumulated in order, so that the error of a sum grows with the logarithm
// of its length.
template <class Op, class T>
struct ReduceLoops {
  using Acc = typename Op::Acc;

  static constexpr int64_t kRun = 512;
  static constexpr int64_t kLanes = 8;
  static constexpr int64_t kBlock = 64;
  static constexpr int64_t kBlockRun = 64;

  static T load(const char* in) { return *reinterpret_cast<const T*>(in); }

  static Acc run(const char* in, int64_t step, int64_t n, int64_t index) {
    Acc acc = Op::identity();
    int64_t i = 0;
    if constexpr (Op::kUnordered) {
      // Several accumulators that do not wait for each other.
      if (step == sizeof(T) && n >= 2 * kLanes) {
        const T* x = reinterpret_cast<const T*>(in);
        Acc lanes[kLanes];
        for (Acc& lane : lanes) lane = Op::identity();
        for (; i + kLanes <= n; i += kLanes) {
          for (int64_t k = 0; k < kLanes; ++k) lanes[k] = Op::take(lanes[k], x[i + k], 0);
        }
        for (int64_t width = kLanes / 2; width > 0; width /= 2) {
          for (int64_t k = 0; k < width; ++k) lanes[k] = Op::merge(lanes[k], lanes[k + width]);
        }
        acc = lanes[0];
      }
    }
    for (; i < n; ++i) acc = Op::take(acc, load(in + i * step), index + i);
    return acc;
  }

  // Indices [first, first + n) of dimension [dim] and all of those inside it.
  static Acc accumulate(const ReducedRow& row, int dim, const char* in, int64_t n, int64_t index) {
    if (dim == 0 && n <= kRun) return run(in, row.steps[0], n, index);
    if (dim > 0 && n == 1) return accumulate(row, dim - 1, in, row.sizes[dim - 1], index);
    const int64_t half = n / 2;
    const Acc a = accumulate(row, dim, in, half, index);
    const Acc b = accumulate(row, dim, in + half * row.steps[dim], n - half, index + half);
    return Op::merge(a, b);
  }

  // The same for [width] results whose elements lie side by side.
  static void accumulateBlock(const ReducedRow& row, int dim, const char* in, int64_t n, int64_t index, int64_t width,
                              Acc* acc) {
    if (dim == 0 && n <= kBlockRun) {
      std::fill_n(acc, width, Op::identity());
      for (int64_t i = 0; i < n; ++i, in += row.steps[0]) {
        const T* x = reinterpret_cast<const T*>(in);
#pragma GCC ivdep
        for (int64_t k = 0; k < width; ++k) acc[k] = Op::take(acc[k], x[k], index + i);
      }
      return;
    }
    if (dim > 0 && n == 1) return accumulateBlock(row, dim - 1, in, row.sizes[dim - 1], index, width, acc);
    const int64_t half = n / 2;
    accumulateBlock(row, dim, in, half, index, width, acc);
    Acc second[kBlock];
    accumulateBlock(row, dim, in + half * row.steps[dim], n - half, index + half, width, second);
    for (int64_t k = 0; k < width; ++k) acc[k] = Op::merge(acc[k], second[k]);
  }

  static void store(const ReducedRow& row, int64_t i, Acc acc) {
    using Out = typename Op::Out;
    *reinterpret_cast<Out*>(row.out + i * row.out_step) = static_cast<Out>(Op::finish(acc, row.count));
  }

  static void loop(const ReducedRow& row) {
    const int outermost = row.rank - 1;
    if (row.count > 0 && row.results > 1 && row.in_step == sizeof(T)) {
      Acc acc[kBlock];
      for (int64_t i = 0; i < row.results; i += kBlock) {
        const int64_t width = std::min(kBlock, row.results - i);
        accumulateBlock(row, outermost, row.in + i * row.in_step, row.sizes[outermost], 0, width, acc);
        for (int64_t k = 0; k < width; ++k) store(row, i + k, acc[k]);
      }
      return;
    }
    for (int64_t i = 0; i < row.results; ++i) {
      const char* in = row.in + i * row.in_step;
      store(row, i, row.count == 0 ? Op::identity() : accumulate(row, outermost, in, row.sizes[outermost], 0));
    }
  }
};

}  // namespace detail

// A Reduction of Op<T> for each of [types].
template <template <class> class Op, class... Ts>
constexpr Reduction makeReduction(std::string_view name, ElementTypes<Ts...>) {
  Reduction op{name};
  ((op.loops[static_cast<size_t>(scalarTypeOf<Ts>)] = detail::ReduceLoops<Op<Ts>, Ts>::loop,
    op.results[static_cast<size_t>(scalarTypeOf<Ts>)] = scalarTypeOf<typename Op<Ts>::Out>),
   ...);
  return op;
}

}  // namespace boxcar::cpu
