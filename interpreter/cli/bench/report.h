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

// [counts] are the instructions of the group's paths.
BenchTable makeTable(const BenchGroup& group, const std::vector<BenchTime>& times,
                     const std::vector<std::optional<double>>& counts);

// The tables for people, with a sentence under them that says what the measurement says of boxed and typed calls.
std::string toText(const std::vector<BenchTable>& tables);
// The same for programs.
std::string toJson(const std::vector<BenchTable>& tables);

// Three digits: "2.31", "74.2", "1340".
std::string formatNanoseconds(double nanoseconds);

}  // namespace boxcar::cli
