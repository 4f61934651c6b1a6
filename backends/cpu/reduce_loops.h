#pragma once

#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/backends/cpu/vector_reductions.h>
#include <boxcar/backends/elements/element.h>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <vector>

// The inner loops of reductions, made of a description of one of them.

namespace boxcar::cpu {

// A row of results and the elements that each is made of. Steps are in bytes.
struct ReducedRow {
  char* out;
  int64_t out_step;
  char* second;  // null where nobody wants it
  int64_t second_step;
  int64_t results;
  const char* in;
  int64_t in_step;  // from the first element of a result to that of the next; 0 when there is one result
  // The reduced dimensions, innermost first; one at least.
  int rank;
  const int64_t* sizes;
  const int64_t* steps;
  int64_t count;  // elements of each result
  double param;   // what the reduction was called with besides
  bool parallel;  // the elements of each result are shared between threads
};

using ReduceLoop = void (*)(const ReducedRow& row);

namespace detail {

template <class Op>
constexpr bool kHasSecond = requires {
  typename Op::Second;
};

// The inner loops of a reduction Op, which is described in elements/reducer_list.h and may have for processors
//   kVector                       a VectorReduction that reduces rows to an Acc
//   run(x, n, index)              the Acc of [n] elements side by side
//   columns(acc, in, step, n, index, width)   takes [n] rows of [width] elements into as many accumulators
// Elements are halved down to short runs that are accumulated in order, so that the error of a sum grows with the
// logarithm of its length, and so that threads can take parts of the same tree.
template <class Op, class T>
class ReduceRows {
 public:
  static void loop(const ReducedRow& row) { ReduceRows(row).reduceRow(); }

 private:
  using Acc = typename Op::Acc;
  using C = Compute<T>;

  // Elements [0, n) from [in] on of dimension [dim] with all of those inside it; the first one's place is [index].
  struct Part {
    int dim;
    const char* in;
    int64_t n;
    int64_t index;
  };
  using Leaf = std::function<void(const Part&, Acc*)>;

  static constexpr bool kHasVector = requires { Op::kVector; };
  static constexpr bool kHasRun = requires(const Op& op, const T* x) { op.run(x, int64_t{}, int64_t{}); };
  static constexpr bool kHasColumns = requires(const Op& op, Acc* acc, const char* in) {
    op.columns(acc, in, int64_t{}, int64_t{}, int64_t{}, int64_t{});
  };
  static constexpr int64_t kRun = kHasVector ? 16384 : kHasRun ? 2048 : 512;
  static constexpr int64_t kBuffer = 512;  // elements that are brought together
  static constexpr int64_t kLanes = 8;
  static constexpr int64_t kBlock = std::max<int64_t>(16, 2048 / static_cast<int64_t>(sizeof(Acc)));
  static constexpr int64_t kBlockRun = 64;
  // Elements that a thread takes at once.
  static constexpr int64_t kShare = kParallelGrain / 2;

  explicit ReduceRows(const ReducedRow& row) : row_(row), op_(makeOp(row)) {
    if constexpr (kHasVector) rows_ = &vectorReduceRows<C>(Op::kVector);
  }

  static Op makeOp(const ReducedRow& row) {
    if constexpr (std::is_constructible_v<Op, double>) {
      return Op(row.param);
    } else {
      return Op();
    }
  }

  static T load(const char* in) { return *reinterpret_cast<const T*>(in); }

  // Several accumulators that do not wait for each other.
  Acc runInLanes(const T* x, int64_t n) const {
    Acc lanes[kLanes];
    for (Acc& lane : lanes) lane = op_.identity();
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
      for (int64_t k = 0; k < kLanes; ++k) lanes[k] = op_.take(lanes[k], x[i + k], 0);
    }
    for (int64_t width = kLanes / 2; width > 0; width /= 2) {
      for (int64_t k = 0; k < width; ++k) lanes[k] = op_.merge(lanes[k], lanes[k + width]);
    }
    Acc acc = lanes[0];
    for (; i < n; ++i) acc = op_.take(acc, x[i], 0);
    return acc;
  }

  // Elements side by side; [n] is at most kBuffer where T needs converting.
  Acc runSideBySide(const T* x, int64_t n, int64_t index) const {
    if constexpr (kHasRun) {
      return op_.run(x, n, index);
    } else if constexpr (kHasVector && std::is_same_v<T, C>) {
      return rows_->row(x, static_cast<size_t>(n));
    } else if constexpr (kHasVector) {
      C converted[kBuffer];
      for (int64_t i = 0; i < n; ++i) converted[i] = static_cast<C>(x[i]);
      return rows_->row(converted, static_cast<size_t>(n));
    } else if constexpr (Op::kUnordered) {
      return runInLanes(x, n);
    } else {
      Acc acc = op_.identity();
      for (int64_t i = 0; i < n; ++i) acc = op_.take(acc, x[i], index + i);
      return acc;
    }
  }

  Acc run(const char* in, int64_t step, int64_t n, int64_t index) const {
    const bool side_by_side = step == sizeof(T);
    if (side_by_side && (std::is_same_v<T, C> || n <= kBuffer)) {
      return runSideBySide(reinterpret_cast<const T*>(in), n, index);
    }
    Acc acc = op_.identity();
    T buffer[kBuffer];
    for (int64_t i = 0; i < n; i += kBuffer, in += kBuffer * step) {
      const int64_t count = std::min(kBuffer, n - i);
      const T* x = reinterpret_cast<const T*>(in);
      if (!side_by_side) {
        for (int64_t k = 0; k < count; ++k) buffer[k] = load(in + k * step);
        x = buffer;
      }
      const Acc more = runSideBySide(x, count, index + i);
      acc = i == 0 ? more : op_.merge(acc, more);
    }
    return acc;
  }

  // Takes [n] rows of [width] elements side by side into [acc].
  void takeRows(const char* in, int64_t n, int64_t index, int64_t width, Acc* acc) const {
    const int64_t step = row_.steps[0];
    if constexpr (kHasColumns) {
      op_.columns(acc, in, step, n, index, width);
    } else if constexpr (kHasVector && std::is_same_v<T, C>) {
      rows_->columns(acc, in, step, n, static_cast<size_t>(width));
    } else {
      for (int64_t i = 0; i < n; ++i, in += step) {
        const T* x = reinterpret_cast<const T*>(in);
#pragma GCC ivdep
        for (int64_t k = 0; k < width; ++k) acc[k] = op_.take(acc[k], x[k], index + i);
      }
    }
  }

  // Short enough to be accumulated in order.
  bool isRun(const Part& part) const {
    const int64_t most = blocks_ ? kBlockRun : kRun;
    return part.dim == 0 ? part.n <= most : part.dim == 1 && part.n * row_.sizes[0] <= most;
  }

  void accumulateRun(const Part& part, int64_t width, Acc* acc) const {
    const int64_t outer = part.dim == 0 ? 1 : part.n;
    const int64_t inner = part.dim == 0 ? part.n : row_.sizes[0];
    const int64_t step = part.dim == 0 ? 0 : row_.steps[1];
    if (blocks_) {
      std::fill_n(acc, width, op_.identity());
      for (int64_t i = 0; i < outer; ++i) takeRows(part.in + i * step, inner, part.index, width, acc);
      return;
    }
    *acc = run(part.in, row_.steps[0], inner, part.index);
    for (int64_t i = 1; i < outer; ++i) {
      *acc = op_.merge(*acc, run(part.in + i * step, row_.steps[0], inner, part.index));
    }
  }

  int64_t elementsOf(const Part& part) const {
    int64_t count = part.n;
    for (int i = 0; i < part.dim; ++i) count *= row_.sizes[i];
    return count;
  }

  // Goes down the tree to runs, or to parts of [share] elements for all results together, and merges what [leaf] makes
  // of them.
  void accumulate(const Part& part, int64_t width, int64_t share, const Leaf& leaf, Acc* acc) const {
    if (isRun(part) || (share > 0 && elementsOf(part) * width <= share)) return leaf(part, acc);
    if (part.dim > 0 && part.n == 1) {
      return accumulate({part.dim - 1, part.in, row_.sizes[part.dim - 1], part.index}, width, share, leaf, acc);
    }
    const int64_t half = part.n / 2;
    accumulate({part.dim, part.in, half, part.index}, width, share, leaf, acc);
    Acc second[kBlock];
    const char* rest = part.in + half * row_.steps[part.dim];
    accumulate({part.dim, rest, part.n - half, part.index + half}, width, share, leaf, second);
    for (int64_t k = 0; k < width; ++k) acc[k] = op_.merge(acc[k], second[k]);
  }

  void accumulateAlone(const Part& part, int64_t width, Acc* acc) const {
    if (isRun(part)) return accumulateRun(part, width, acc);
    accumulate(
        part, width, 0, [&](const Part& run, Acc* into) { accumulateRun(run, width, into); }, acc);
  }

  // The same tree, but each thread takes branches of it.
  void accumulateInThreads(const Part& part, int64_t width, Acc* acc) const {
    std::vector<Part> branches;
    accumulate(
        part, width, kShare,
        [&](const Part& branch, Acc* into) {
          branches.push_back(branch);
          std::fill_n(into, width, op_.identity());
        },
        acc);
    const auto made = std::make_unique<Acc[]>(branches.size() * static_cast<size_t>(width));
    const auto madeBy = [&](int64_t i) { return made.get() + i * width; };
    parallelFor(0, static_cast<int64_t>(branches.size()), 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) accumulateAlone(branches[static_cast<size_t>(i)], width, madeBy(i));
    });
    int64_t next = 0;
    accumulate(
        part, width, kShare, [&](const Part&, Acc* into) { std::copy_n(madeBy(next++), width, into); }, acc);
  }

  // Processors that read ahead stop at the end of a page, which often is that of a result's elements.
  void announce(const char* in) const {
    constexpr int kLine = 64;
    for (int line = 0; line < 4; ++line) __builtin_prefetch(in + line * kLine);
  }

  void reduceRow() {
    // Results whose elements lie side by side are made together.
    blocks_ = row_.in_step == sizeof(T);
    const int64_t most = blocks_ ? kBlock : 1;
    const int outermost = row_.rank - 1;
    Acc acc[kBlock];
    for (int64_t i = 0; i < row_.results; i += most) {
      const int64_t width = std::min(most, row_.results - i);
      const Part whole{outermost, row_.in + i * row_.in_step, row_.sizes[outermost], 0};
      if (i + most < row_.results) announce(whole.in + most * row_.in_step);
      if (row_.count == 0) {
        std::fill_n(acc, width, op_.identity());
      } else if (row_.parallel) {
        accumulateInThreads(whole, width, acc);
      } else {
        accumulateAlone(whole, width, acc);
      }
      for (int64_t k = 0; k < width; ++k) store(i + k, acc[k]);
    }
  }

  void store(int64_t i, const Acc& acc) const {
    using Out = typename Op::Out;
    *reinterpret_cast<Out*>(row_.out + i * row_.out_step) = static_cast<Out>(op_.finish(acc, row_.count));
    if constexpr (kHasSecond<Op>) {
      using Second = typename Op::Second;
      if (row_.second == nullptr) return;
      *reinterpret_cast<Second*>(row_.second + i * row_.second_step) = static_cast<Second>(op_.second(acc, row_.count));
    }
  }

  const ReducedRow& row_;
  Op op_;
  const VectorReduceRows<C>* rows_ = nullptr;
  bool blocks_ = false;
};

}  // namespace detail
}  // namespace boxcar::cpu
