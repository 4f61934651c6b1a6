#pragma once

#include <boxcar/dispatcher/handlers/profile/call_log.h>
#include <boxcar/dispatcher/handlers/profile/profile_table.h>

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace boxcar::detail {

// A call on the timeline, in nanoseconds since the profile began.
struct ProfiledCall {
  const CallRecord* record;
  int64_t start;
  int64_t end;
  const DeviceSpan* device;  // null if it gave a device no work
  uint32_t path;             // index into Profile::paths
};

// What a device did, ordered by start.
struct ProfiledLane {
  struct Span {
    const CallRecord* record;
    int64_t start;
    int64_t end;
    int64_t children;
  };
  std::string name;  // "cuda:0, stream 0"
  std::vector<Span> spans;
};

struct ProfiledThread {
  uint32_t number;
  std::string name;
  // Outer calls before the calls in them.
  std::vector<ProfiledCall> calls;
};

// The sums over the calls of one operator, line or function, in nanoseconds and bytes. The total of a line or a
// function includes the functions that it calls; `calls` counts only the calls that it makes itself.
struct ProfileRow {
  std::string name;
  std::string text;      // the tensors' shapes, or the text of the line
  std::string function;  // the function that contains the line
  uint64_t calls = 0;
  uint64_t failed = 0;
  double total = 0;
  double self = 0;
  uint64_t bytes = 0;
  uint64_t self_bytes = 0;
  // On a device.
  double device_total = 0;
  double device_self = 0;
};

// What one call costs on this machine, in nanoseconds.
struct CallCosts {
  double dispatch = 0;
  double profiler = 0;
};

// The sums over the calls of one path, including the calls of kernels below: their own time and bytes, without those of
// the calls inside them.
struct PathSum {
  uint64_t calls = 0;  // calls that the script made itself
  uint64_t failed = 0;
  uint64_t ticks = 0;
  uint64_t bytes = 0;
  double device_time = 0;
};

// The whole profile. Points into the logs.
struct Profile {
  explicit Profile(std::span<const std::unique_ptr<CallLog>> logs);

  // Sums, by name.
  std::vector<ProfileRow> rows(ProfileBy by) const;
  // "attention (gpt.ops)", or only the file if the frame is of the file's own statements.
  static std::string functionText(const CallFrame& frame);
  const std::string& nameOf(const OperatorEntry* entry) const;
  bool usesDevice() const noexcept { return !device_kind.empty(); }

  std::vector<ProfiledThread> threads;
  std::vector<ProfiledLane> lanes;
  std::vector<OperatorSum> folded;
  // The paths of all threads, and the sums over their calls. The first path is for calls that no script makes.
  std::vector<CallPaths::Node> paths;
  std::vector<PathSum> path_sums;
  uint64_t calls = 0;
  // Calls that are in the sums but not on the timeline.
  uint64_t calls_folded = 0;
  // In nanoseconds: from the first begin to the last end; and summed over all threads, the time on and the time in
  // calls.
  double wall = 0;
  double on = 0;
  double in_calls = 0;
  // The time on devices, in spans that are in no other; and the kind of device: "CUDA".
  double on_device = 0;
  std::string device_kind;
  double per_tick;
  bool failed = false;

 private:
  std::vector<ProfileRow> rowsOfOperators(bool by_shape) const;
  std::vector<ProfileRow> rowsOfScript(bool by_line) const;
  void addToPath(uint32_t path, const OperatorSum& sum);
  // Returns the numbers that the paths of [log] have here.
  std::vector<uint32_t> mergePaths(const CallLog& log);
  // [origin] is that of the span's clock, in nanoseconds since the profile began.
  void addToLane(const DeviceSpan& span, const CallRecord& record, double origin);

  std::map<std::tuple<uint32_t, std::string, std::string, uint32_t>, uint32_t> path_numbers_;
  mutable std::map<const OperatorEntry*, std::string> names_;
};

}  // namespace boxcar::detail
