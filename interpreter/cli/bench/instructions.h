#pragma once

#include <boxcar/interpreter/cli/bench/paths.h>

#include <optional>
#include <string>
#include <vector>

// Instructions of a call, counted by valgrind's callgrind: the program runs itself under it, makes few and many calls
// of each path, and takes the difference. Counts are exact, whatever else the machine does.

namespace boxcar::cli {

// What the program does when it is run so: makes the calls and writes into [file] which counts are which.
void runCountedPaths(std::vector<BenchGroup>& groups, const std::string& file);

struct InstructionCounts {
  // By group and by path; nothing where a path was not counted.
  std::vector<std::vector<std::optional<double>>> counts;
  // Why nothing was counted; empty where something was.
  std::string problem;
};

// Runs this program under callgrind with [arguments], to which the option that asks for runCountedPaths is added.
// [folder] takes callgrind's files.
InstructionCounts countInstructions(const std::vector<BenchGroup>& groups, std::vector<std::string> arguments,
                                    const std::string& folder);

}  // namespace boxcar::cli
