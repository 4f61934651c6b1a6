#pragma once

#include <boxcar/interpreter/cli/bench/arguments.h>

#include <span>
#include <string>
#include <vector>

namespace boxcar::cli {

// The first call of each of [operators] in the recording at [path], or of each operator that it has calls of where
// there are none; those that act outside of the program, failed or cannot be made again are left out. An Error names an
// operator without such a call, and a recording without any.
std::vector<BenchCall> recordedCalls(const std::string& path, std::span<const std::string> operators);

}  // namespace boxcar::cli
