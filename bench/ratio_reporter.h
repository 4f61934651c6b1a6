#pragma once

#include <benchmark/benchmark.h>

#include <map>
#include <string>
#include <vector>

namespace boxcar::bench {

// Prints Google Benchmark's output and, at the end, how each of boxcar's paths compares with its peer. Benchmarks are
// named PATH/boxcar and PATH/PEER; the ratio is that of their median times.
class RatioReporter final : public benchmark::ConsoleReporter {
 public:
  RatioReporter() : ConsoleReporter(OO_Tabular) {}

  void ReportRuns(const std::vector<Run>& runs) override;
  void Finalize() override;

 private:
  // Nanoseconds by path, then by boxcar or peer.
  std::map<std::string, std::map<std::string, double>> times_;
};

}  // namespace boxcar::bench
