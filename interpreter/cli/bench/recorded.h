#pragma once

#include <boxcar/interpreter/cli/bench/arguments.h>

#include <span>
#include <string>
#include <vector>

namespace boxcar::cli {

// Returns the first call of each of [operators] in the recording at [path]; if [operators] is empty, of each operator
// that the recording has calls of. Calls that act outside the program, failed or cannot be made again are left out.
// Throws Error if an operator, which it names, has no such call, or the recording has none.
std::vector<BenchCall> recordedCalls(const std::string& path, std::span<const std::string> operators);

}  // namespace boxcar::cli
