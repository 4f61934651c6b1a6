#pragma once

#include <boxcar/interpreter/cli/bench/report.h>

#include <string>
#include <vector>

namespace boxcar::cli {

// Returns the tables as one SVG picture: one bar per row, on one logarithmic axis in nanoseconds, with a line from the
// first to the third quartile.
std::string toSvg(const std::vector<BenchTable>& tables);

}  // namespace boxcar::cli
