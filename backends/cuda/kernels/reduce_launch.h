#pragma once

#include <boxcar/backends/cuda/kernels/late_start.h>
#include <boxcar/backends/cuda/kernels/launch.h>
#include <boxcar/backends/cuda/kernels/pack.h>
#include <boxcar/backends/cuda/reduce_launcher.h>
#include <boxcar/backends/functors/element.h>
#include <boxcar/ivalue/scalar_type.h>

#include <cstdint>
#include <type_traits>

// Kernels of reductions, built from the descriptions in functors/.

namespace boxcar::cuda {
namespace detail {

template <class Op>
Op makeReducer([[maybe_unused]] double param) {
  if constexpr (std::is_constructible_v<Op, double>) {
    return Op(param);
  } else {
    return Op();
  }
}

// One launch of a reduction. Each thread of a block accumulates every kReduceThreads-th element (with columns, every
// kReduceRows-th). The threads' accumulators are merged in thread order. If several blocks share a result, each leaves
// an Acc, and a second launch merges them in order. So the result depends on the sizes, not on which block finishes
// first.
template <class Op, class T>
struct ReduceKernel {
  using Acc = typename Op::Acc;

  Op op;
  ReduceLaunch launch;

  BOXCAR_HOST_DEVICE T load(const char* base, int64_t i) const {
    int64_t at[1];
    if (launch.elements_at.rank == 1) {
      at[0] = i * launch.elements_at.strides[0][0];
    } else {
      launch.elements_at.at(static_cast<uint32_t>(i), at);
    }
    return *reinterpret_cast<const T*>(base + at[0]);
  }

  BOXCAR_HOST_DEVICE void store(int64_t result, const Acc& acc) const {
    int64_t at[3];
    launch.results_at.at(static_cast<uint32_t>(result), at);
    using Out = typename Op::Out;
    *reinterpret_cast<Out*>(launch.out + at[1]) = functors::convertElement<Out>(op.finish(acc, launch.count));
    if constexpr (requires { typename Op::Second; }) {
      using Second = typename Op::Second;
      if (launch.second != nullptr) {
        *reinterpret_cast<Second*>(launch.second + at[2]) =
            functors::convertElement<Second>(op.second(acc, launch.count));
      }
    }
  }

  BOXCAR_HOST_DEVICE void finish(int64_t result, int64_t part, const Acc& acc) const {
    if (launch.shape.parts == 1) {
      store(result, acc);
    } else {
      reinterpret_cast<Acc*>(launch.workspace)[result * launch.shape.parts + part] = acc;
    }
  }

  // Merges the accumulators that blocks [begin, end) of a result left.
  BOXCAR_HOST_DEVICE Acc mergeParts(int64_t result, int64_t begin, int64_t end) const {
    const Acc* const left = reinterpret_cast<const Acc*>(launch.workspace) + result * launch.shape.parts;
    Acc acc = op.identity();
    for (int64_t part = begin; part < end; ++part) acc = op.merge(acc, left[part]);
    return acc;
  }

  BOXCAR_HOST_DEVICE const char* inputOf(int64_t result) const {
    int64_t at[3];
    launch.results_at.at(static_cast<uint32_t>(result), at);
    return launch.in + at[0];
  }

  // Accumulates elements [begin, end) by [step], four at a time so that their reads overlap.
  BOXCAR_HOST_DEVICE Acc accumulate(const char* base, int64_t begin, int64_t end, int64_t step) const {
    constexpr int kLanes = 4;
    Acc lanes[kLanes];
    for (int k = 0; k < kLanes; ++k) lanes[k] = op.identity();
    int64_t i = begin;
    for (; i + (kLanes - 1) * step < end; i += kLanes * step) {
      T x[kLanes];
      for (int k = 0; k < kLanes; ++k) x[k] = load(base, i + k * step);
      for (int k = 0; k < kLanes; ++k) lanes[k] = op.take(lanes[k], x[k], i + k * step);
    }
    Acc acc = op.merge(op.merge(lanes[0], lanes[1]), op.merge(lanes[2], lanes[3]));
    for (; i < end; i += step) acc = op.take(acc, load(base, i), i);
    return acc;
  }

  // Elements that a thread reads at once, if they lie side by side.
  static constexpr int kPack = sizeof(T) >= 16 ? 1 : static_cast<int>(16 / sizeof(T));

  BOXCAR_HOST_DEVICE bool liesSideBySide() const {
    return launch.elements_at.rank == 1 && launch.elements_at.strides[0][0] == static_cast<int64_t>(sizeof(T));
  }

  // As accumulate, for thread number [thread] of a block, with elements side by side: it reads packs, and of the
  // elements before the first and behind the last whole pack at most one each.
  BOXCAR_HOST_DEVICE Acc accumulatePacks(const char* base, int64_t begin, int64_t end, int thread) const {
    constexpr int kAtOnce = 4;
    constexpr int kLanes = kPack < 4 ? kPack : 4;
    const T* const elements = reinterpret_cast<const T*>(base);
    const int64_t misplaced = static_cast<int64_t>(reinterpret_cast<uintptr_t>(elements + begin) / sizeof(T) % kPack);
    const int64_t aligned = begin + (kPack - misplaced) % kPack;
    const int64_t first = aligned < end ? aligned : end;
    const int64_t packs = (end - first) / kPack;
    const int64_t last = first + packs * kPack;
    Acc lanes[kLanes];
    for (int k = 0; k < kLanes; ++k) lanes[k] = op.identity();
    if (begin + thread < first) lanes[0] = op.take(lanes[0], elements[begin + thread], begin + thread);
    const auto* const all = reinterpret_cast<const Pack<T, kPack>*>(elements + first);
    int64_t p = thread;
    for (; p + (kAtOnce - 1) * kReduceThreads < packs; p += kAtOnce * kReduceThreads) {
      Pack<T, kPack> read[kAtOnce];
      for (int r = 0; r < kAtOnce; ++r) read[r] = all[p + r * kReduceThreads];
      for (int r = 0; r < kAtOnce; ++r) takePack(lanes, read[r], first + (p + r * kReduceThreads) * kPack);
    }
    for (; p < packs; p += kReduceThreads) takePack(lanes, all[p], first + p * kPack);
    if (last + thread < end) lanes[0] = op.take(lanes[0], elements[last + thread], last + thread);
    Acc acc = lanes[0];
    for (int k = 1; k < kLanes; ++k) acc = op.merge(acc, lanes[k]);
    return acc;
  }
  template <int lanes_count>
  BOXCAR_HOST_DEVICE void takePack(Acc (&lanes)[lanes_count], const Pack<T, kPack>& pack, int64_t i) const {
    for (int k = 0; k < kPack; ++k) lanes[k % lanes_count] = op.take(lanes[k % lanes_count], pack.elements[k], i + k);
  }

  BOXCAR_HOST_DEVICE void operator()(const Block& block) const {
    const int64_t parts = launch.shape.parts;
    const int64_t part = block.index() % parts;
    const int64_t group = block.index() / parts;
    const int64_t per_part = (launch.count + parts - 1) / parts;
    const int64_t begin = part * per_part;
    const int64_t end = begin + per_part < launch.count ? begin + per_part : launch.count;
    if (launch.shape.columns) {
      columns(block, group, part, begin, end);
    } else {
      const char* const base = inputOf(group);
      const bool packs = kPack > 1 && liesSideBySide();
      const auto mine = [&](int thread) {
        return packs ? accumulatePacks(base, begin, end, thread)
                     : accumulate(base, begin + thread, end, kReduceThreads);
      };
      const Acc acc =
          block.combine(block.shared<Acc>(), mine, [&](const Acc& a, const Acc& b) { return op.merge(a, b); });
      block.each([&](int thread) {
        if (thread == 0) finish(group, part, acc);
      });
    }
  }

  BOXCAR_HOST_DEVICE void columns(const Block& block, int64_t group, int64_t part, int64_t begin, int64_t end) const {
    Acc* const rows = block.shared<Acc>();
    block.each([&](int thread) {
      const int64_t result = group * kReduceColumns + thread % kReduceColumns;
      if (result < launch.results) {
        rows[thread] = accumulate(inputOf(result), begin + thread / kReduceColumns, end, kReduceRows);
      }
    });
    block.each([&](int thread) {
      const int64_t result = group * kReduceColumns + thread;
      if (thread >= kReduceColumns || result >= launch.results) return;
      Acc acc = rows[thread];
      for (int row = 1; row < kReduceRows; ++row) acc = op.merge(acc, rows[row * kReduceColumns + thread]);
      finish(result, part, acc);
    });
  }
};

// Merges the accumulators left by the blocks of a result. A thread does so for few, and a block for many, where each
// thread merges neighbouring ones.
template <class Op, class T>
struct MergeFew {
  ReduceKernel<Op, T> reduction;

  BOXCAR_HOST_DEVICE void operator()(int64_t block, int thread) const {
    const int64_t result = block * kReduceThreads + thread;
    if (result >= reduction.launch.results) return;
    reduction.store(result, reduction.mergeParts(result, 0, reduction.launch.shape.parts));
  }
};
template <class Op, class T>
struct MergeMany {
  using Acc = typename Op::Acc;
  ReduceKernel<Op, T> reduction;

  BOXCAR_HOST_DEVICE void operator()(const Block& block) const {
    const int64_t parts = reduction.launch.shape.parts;
    const int64_t each = (parts + kReduceThreads - 1) / kReduceThreads;
    const Acc acc = block.combine(
        block.shared<Acc>(),
        [&](int thread) {
          const int64_t end = (thread + 1) * each < parts ? (thread + 1) * each : parts;
          return reduction.mergeParts(block.index(), thread * each, end);
        },
        [&](const Acc& a, const Acc& b) { return reduction.op.merge(a, b); });
    block.each([&](int thread) {
      if (thread == 0) reduction.store(block.index(), acc);
    });
  }
};

template <class Op, class T>
void launchReduction(const ReduceLaunch& launch) {
  const ReduceKernel<Op, T> kernel{makeReducer<Op>(launch.param), launch};
  const size_t shared = sizeof(typename Op::Acc) * (launch.shape.columns ? kReduceThreads : 33);
  const auto reduce = [&] { launchBlocks<kReduceThreads>(launch.shape.blocks(launch.results), shared, kernel); };
  if (launch.shape.parts == 1) return reduce();
  {
    const LateStart parts_have_equal_shares;
    reduce();
  }
  constexpr int64_t kFewParts = 16;
  if (launch.shape.parts <= kFewParts) {
    launchGrid<kReduceThreads>(blocksFor(launch.results, kReduceThreads), MergeFew<Op, T>{kernel});
  } else {
    launchBlocks<kReduceThreads>(launch.results, sizeof(typename Op::Acc) * 33, MergeMany<Op, T>{kernel});
  }
}

}  // namespace detail

template <template <class> class Op, class... Ts>
constexpr ReduceLaunchers makeReduceLaunchers(ElementTypes<Ts...>) {
  ReduceLaunchers launchers{};
  ((launchers[static_cast<size_t>(scalarTypeOf<Ts>)] = {detail::launchReduction<Op<Ts>, Ts>,
                                                        sizeof(typename Op<Ts>::Acc)}),
   ...);
  return launchers;
}

// Defines the launchers for one line of functors/reducer_list.h.
#define BOXCAR_DEFINE_REDUCE_LAUNCHERS(reducer, types)                             \
  template <>                                                                      \
  const ReduceLaunchers LaunchersOfReducer<functors::Reducer::k##reducer>::value = \
      makeReduceLaunchers<functors::reducer>(types);

}  // namespace boxcar::cuda
