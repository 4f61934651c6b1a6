#pragma once

#include <boxcar/backends/cuda/kernels/offsets.h>
#include <boxcar/backends/elements/reducer_list.h>
#include <boxcar/ivalue/scalar_type.h>

#include <array>
#include <cstddef>
#include <cstdint>

// What stands between reductions and their kernels, which nvcc compiles.

namespace boxcar::cuda {

inline constexpr int kReduceThreads = 256;
inline constexpr int kReduceColumns = 32;  // results that a block makes side by side
inline constexpr int kReduceRows = kReduceThreads / kReduceColumns;

// How the threads share the elements of [results] results, [count] each.
struct ReduceShape {
  // Threads go along the results, which lie side by side, and not along the elements of one.
  bool columns = false;
  // Blocks that share the elements of a result, or of kReduceColumns of them.
  int64_t parts = 1;

  // [along_results] when neighbouring results lie closer to each other in the input than elements of one.
  static ReduceShape choose(int64_t results, int64_t count, bool along_results, int multiprocessors);
  // Blocks of the launch.
  int64_t blocks(int64_t results) const {
    return (columns ? (results + kReduceColumns - 1) / kReduceColumns : results) * parts;
  }
};

struct ReduceLaunch {
  ReduceShape shape;
  int64_t results;
  int64_t count;
  const char* in;
  char* out;
  char* second;           // null where nobody wants it
  char* workspace;        // for an Acc of each part of each result, where there are several parts
  Offsets<3> results_at;  // of input, out, second
  Offsets<1> elements_at;
  double param;
};

struct ReduceLauncher {
  void (*run)(const ReduceLaunch& launch) = nullptr;
  size_t accumulator_bytes = 0;
};
using ReduceLaunchers = std::array<ReduceLauncher, static_cast<size_t>(ScalarType::NumOptions)>;

// Those of each reducer: a family's file defines them.
template <elements::Reducer reducer>
struct LaunchersOfReducer {
  static const ReduceLaunchers value;
};

#define BOXCAR_DECLARE_LAUNCHERS(reducer, types) \
  template <>                                    \
  const ReduceLaunchers LaunchersOfReducer<elements::Reducer::k##reducer>::value;
BOXCAR_REDUCERS(BOXCAR_DECLARE_LAUNCHERS)
#undef BOXCAR_DECLARE_LAUNCHERS

}  // namespace boxcar::cuda
