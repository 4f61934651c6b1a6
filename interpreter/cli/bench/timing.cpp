#include <boxcar/interpreter/cli/bench/timing.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace boxcar::cli {
namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// The minimum number of seconds before paths are left out, even if fewer are given.
constexpr double kLeastSeconds = 5;

// The time for the calls of one repetition: much less than a scheduler's time slice.
constexpr double kSlice = 200e-6;

double secondsOf(const CallLoop& loop, long count) {
  // The first calls after another path run with cold caches.
  if (count >= 16) loop(count / 16);
  const Clock::time_point start = Clock::now();
  loop(count);
  return secondsSince(start);
}

struct Slice {
  double seconds;
  double overhead;
};

// Returns the time of [count] calls, without entering and leaving the scope.
Slice timeSlice(const BenchPath& path, long count) {
  Slice slice{0, 0};
  const auto body = [&] {
    slice.seconds = secondsOf(path.run, count);
    if (path.overhead) slice.overhead = secondsOf(path.overhead, count);
  };
  if (path.within) {
    path.within(body);
  } else {
    body();
  }
  return slice;
}

// Returns how many calls take about a slice.
long countFor(const BenchPath& path) {
  long count = 1;
  timeSlice(path, count);
  while (count < path.most_calls) {
    const double seconds = std::max(timeSlice(path, count).seconds, 1e-9);
    // A tenth of the slice is enough to estimate it.
    if (seconds > kSlice / 10) count = std::lround(static_cast<double>(count) * kSlice / seconds);
    if (seconds > kSlice / 10) break;
    count *= 4;
  }
  return std::clamp(count, 1L, path.most_calls);
}

// Returns the quantile of the sorted [values] at [part], interpolated between two of them if needed.
double quantile(const std::vector<double>& values, double part) {
  const double place = part * static_cast<double>(values.size() - 1);
  const auto below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, values.size() - 1);
  return std::lerp(values[below], values[above], place - static_cast<double>(below));
}

// Returns the index of the path that the others are compared with. If the boxed call is missing, too, all paths have
// failed.
size_t referenceOf(const BenchGroup& group) {
  for (const char* name : {kTypedCall, kBoxedCall}) {
    const auto path = std::ranges::find(group.paths, name, &BenchPath::name);
    if (path != group.paths.end()) return static_cast<size_t>(path - group.paths.begin());
  }
  return 0;
}

}  // namespace

std::vector<BenchTime> timePaths(BenchGroup& group, const TimingOptions& options) {
  const Clock::time_point start = Clock::now();
  std::vector<long> counts;
  std::erase_if(group.paths, [&](const BenchPath& path) {
    std::string reason;
    // On a busy machine, finding out how long a call takes may take longer; calls that take seconds are not waited for.
    if (secondsSince(start) > std::max(kLeastSeconds, options.seconds)) {
      reason = fmt::format("the {} s of --seconds for this operator were over", options.seconds);
    } else {
      try {
        counts.push_back(countFor(path));
        return false;
      } catch (const Error& error) {
        reason = error.message();
      }
    }
    group.skipped.push_back({path.name, reason});
    return true;
  });
  // Indexed by path and repetition.
  std::vector<std::vector<double>> nanoseconds(group.paths.size());
  std::vector<std::vector<double>> overheads(group.paths.size());
  for (int repetition = 0; repetition < options.most_repetitions; ++repetition) {
    if (repetition > 0 && secondsSince(start) > options.seconds) break;
    for (size_t i = 0; i < group.paths.size(); ++i) {
      const Slice slice = timeSlice(group.paths[i], counts[i]);
      nanoseconds[i].push_back(slice.seconds * 1e9 / static_cast<double>(counts[i]));
      overheads[i].push_back(slice.overhead * 1e9 / static_cast<double>(counts[i]));
    }
  }
  for (size_t i = 0; i < group.paths.size(); ++i) {
    std::ranges::sort(overheads[i]);
    const double overhead = quantile(overheads[i], 0.5);
    for (double& time : nanoseconds[i]) time -= overhead;
  }
  const size_t reference = referenceOf(group);
  std::vector<BenchTime> times;
  for (const std::vector<double>& values : nanoseconds) {
    std::vector<double> ratios;
    for (size_t i = 0; i < values.size(); ++i) ratios.push_back(values[i] / nanoseconds[reference][i]);
    std::ranges::sort(ratios);
    std::vector<double> sorted = values;
    std::ranges::sort(sorted);
    times.push_back(
        {sorted.front(), quantile(sorted, 0.25), quantile(sorted, 0.5), quantile(sorted, 0.75), quantile(ratios, 0.5)});
  }
  return times;
}

}  // namespace boxcar::cli
