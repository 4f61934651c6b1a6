#pragma once

#include <boxcar/interpreter/cli/bench/paths.h>

#include <optional>
#include <string>
#include <vector>

// Counts the instructions of a call with valgrind's callgrind: the program runs itself under it, makes few and many
// calls of each path, and takes the difference. The counts are exact, whatever else the machine does.

namespace boxcar::cli {

// Runs in the program under callgrind: makes the calls and writes to [file] which counts belong to which path.
void runCountedPaths(std::vector<BenchGroup>& groups, const std::string& file);

struct InstructionCounts {
  // By group and by path; nullopt if a path was not counted.
  std::vector<std::vector<std::optional<double>>> counts;
  // Why nothing was counted; empty if something was.
  std::string problem;
};

// Runs this program under callgrind with [arguments] plus the option that asks for runCountedPaths. Callgrind's files
// go to [folder].
InstructionCounts countInstructions(const std::vector<BenchGroup>& groups, std::vector<std::string> arguments,
                                    const std::string& folder);

}  // namespace boxcar::cli
