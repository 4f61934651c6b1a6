#pragma once

#include <boxcar/interpreter/cli/bench/paths.h>

#include <vector>

namespace boxcar::cli {

// Nanoseconds of a call, over the repetitions.
struct BenchTime {
  double min;
  double first_quartile;
  double median;
  double third_quartile;
  // To the typed call, or to the boxed one where there is none: the median of the ratios within each repetition, which
  // what slows both down does not change.
  double ratio;
};

struct TimingOptions {
  // How long all of it may take; one repetition is made whatever it takes.
  double seconds;
  int most_repetitions;
};

// Times the paths in turns, so that what else the machine does meets all of them alike, and each for so short a time
// that the machine does mostly nothing else meanwhile. A path that fails goes to those that are skipped. Nothing where
// no path is left.
std::vector<BenchTime> timePaths(BenchGroup& group, const TimingOptions& options);

}  // namespace boxcar::cli
