#pragma once

#include <boxcar/interpreter/cli/bench/paths.h>

#include <vector>

namespace boxcar::cli {

// Nanoseconds per call, over the repetitions.
struct BenchTime {
  double min;
  double first_quartile;
  double median;
  double third_quartile;
  // Relative to the typed call, or to the boxed one if there is no typed one. It is the median of the ratios within
  // each repetition, so what slows both down cancels out.
  double ratio;
};

struct TimingOptions {
  // The time limit for everything; one repetition is made however long it takes.
  double seconds;
  int most_repetitions;
};

// Times the paths in turns, so that other load on the machine affects all of them alike. Each slice is so short that
// the machine mostly does nothing else meanwhile. Moves a path that fails to the skipped ones. Returns nothing if no
// path is left.
std::vector<BenchTime> timePaths(BenchGroup& group, const TimingOptions& options);

}  // namespace boxcar::cli
