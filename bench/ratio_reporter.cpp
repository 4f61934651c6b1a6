#include "bench/ratio_reporter.h"

#include <fmt/core.h>

namespace boxcar::bench {

void RatioReporter::ReportRuns(const std::vector<Run>& runs) {
  for (const Run& run : runs) {
    const bool is_median = run.run_type == Run::RT_Aggregate && run.aggregate_name == "median";
    const bool is_only_run = run.run_type == Run::RT_Iteration && run.repetitions <= 1;
    if (run.error_occurred || !(is_median || is_only_run)) continue;
    const std::string& name = run.run_name.function_name;
    const size_t slash = name.rfind('/');
    if (slash == std::string::npos) continue;
    const double time = run.run_name.time_type.empty() ? run.GetAdjustedCPUTime() : run.GetAdjustedRealTime();
    const double nanoseconds = time * 1e9 / benchmark::GetTimeUnitMultiplier(run.time_unit);
    times_[name.substr(0, slash)][name.substr(slash + 1)] = nanoseconds;
  }
  ConsoleReporter::ReportRuns(runs);
}

void RatioReporter::Finalize() {
  fmt::print("\n{:<34}{:>14}{:>14}{:>10}  {}\n", "path, medians", "boxcar ns", "peer ns", "ratio", "peer");
  for (const auto& [path, who] : times_) {
    const auto boxcar = who.find("boxcar");
    if (boxcar == who.end()) continue;
    const double own = boxcar->second;
    if (who.size() == 1) fmt::print("{:<34}{:>14.1f}{:>14}{:>10}\n", path, own, "-", "-");
    for (const auto& [peer, time] : who) {
      if (peer == "boxcar") continue;
      fmt::print("{:<34}{:>14.1f}{:>14.1f}{:>10.3f}  {}\n", path, own, time, own / time, peer);
    }
  }
  ConsoleReporter::Finalize();
}

}  // namespace boxcar::bench
