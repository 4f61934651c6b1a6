#pragma once

#include <boxcar/interpreter/cli/bench/paths.h>
#include <boxcar/interpreter/cli/bench/timing.h>

#include <optional>
#include <string>
#include <vector>

namespace boxcar::cli {

struct BenchRow {
  std::string name;
  BenchTime time;
  std::optional<double> instructions;
};

struct BenchTable {
  // The call: "aten::add.Tensor(float32[2], float32[2], 1)".
  std::string title;
  std::string operator_name;
  std::string schema;
  std::vector<BenchRow> rows;
  std::vector<SkippedPath> skipped;

  const BenchRow* find(const std::string& name) const;
};

// [counts]: the instructions of the group's paths.
BenchTable makeTable(const BenchGroup& group, const std::vector<BenchTime>& times,
                     const std::vector<std::optional<double>>& counts);

// Returns the tables for people, followed by a sentence on what the measurement says about boxed and typed calls.
std::string toText(const std::vector<BenchTable>& tables);
// Returns the tables for programs.
std::string toJson(const std::vector<BenchTable>& tables);

// Returns the number with three digits: "2.31", "74.2", "1340".
std::string formatNanoseconds(double nanoseconds);

}  // namespace boxcar::cli
