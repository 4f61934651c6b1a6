#pragma once

#include <boxcar/backends/cuda/kernels/offsets.h>
#include <boxcar/backends/functors/reducer_list.h>
#include <boxcar/ivalue/scalar_type.h>

#include <array>
#include <cstddef>
#include <cstdint>

// The interface between reductions and their kernels, which nvcc compiles.

namespace boxcar::cuda {

inline constexpr int kReduceThreads = 256;
inline constexpr int kReduceColumns = 32;  // results that a block computes side by side
inline constexpr int kReduceRows = kReduceThreads / kReduceColumns;

// How the threads divide the work for [results] results of [count] elements each.
struct ReduceShape {
  // Adjacent threads work on adjacent results, not on elements of one result.
  bool columns = false;
  // Blocks that share the elements of one result, or of kReduceColumns results.
  int64_t parts = 1;

  // [along_results]: in the input, neighboring results lie closer together than the elements of one result.
  static ReduceShape choose(int64_t results, int64_t count, bool along_results, int multiprocessors);
  // Returns the number of blocks of the launch.
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
  char* second;           // null if not wanted
  char* workspace;        // for an Acc of each part of each result, if there are several parts
  Offsets<3> results_at;  // of input, out, second
  Offsets<1> elements_at;
  double param;
};

struct ReduceLauncher {
  void (*run)(const ReduceLaunch& launch) = nullptr;
  size_t accumulator_bytes = 0;
};
using ReduceLaunchers = std::array<ReduceLauncher, static_cast<size_t>(ScalarType::NumOptions)>;

// The launchers of each reducer, defined in its family's file.
template <functors::Reducer reducer>
struct LaunchersOfReducer {
  static const ReduceLaunchers value;
};

#define BOXCAR_DECLARE_LAUNCHERS(reducer, types) \
  template <>                                    \
  const ReduceLaunchers LaunchersOfReducer<functors::Reducer::k##reducer>::value;
BOXCAR_REDUCERS(BOXCAR_DECLARE_LAUNCHERS)
#undef BOXCAR_DECLARE_LAUNCHERS

}  // namespace boxcar::cuda
