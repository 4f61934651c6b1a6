#pragma once

#include <boxcar/backends/cuda/kernels/launch.h>
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
      const auto mine = [&](int thread) { return accumulate(base, begin + thread, end, kReduceThreads); };
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

// Merges the accumulators left by the blocks of a result.
template <class Op, class T>
struct MergeKernel {
  ReduceKernel<Op, T> reduction;

  BOXCAR_HOST_DEVICE void operator()(int64_t block, int thread) const {
    const int64_t result = block * kReduceThreads + thread;
    if (result >= reduction.launch.results) return;
    using Acc = typename Op::Acc;
    const int64_t parts = reduction.launch.shape.parts;
    const Acc* const left = reinterpret_cast<const Acc*>(reduction.launch.workspace) + result * parts;
    Acc acc = left[0];
    for (int64_t part = 1; part < parts; ++part) acc = reduction.op.merge(acc, left[part]);
    reduction.store(result, acc);
  }
};

template <class Op, class T>
void launchReduction(const ReduceLaunch& launch) {
  const ReduceKernel<Op, T> kernel{makeReducer<Op>(launch.param), launch};
  const size_t shared = sizeof(typename Op::Acc) * (launch.shape.columns ? kReduceThreads : 33);
  launchBlocks<kReduceThreads>(launch.shape.blocks(launch.results), shared, kernel);
  if (launch.shape.parts == 1) return;
  launchGrid<kReduceThreads>(blocksFor(launch.results, kReduceThreads), MergeKernel<Op, T>{kernel});
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
