#include <boxcar/dispatcher/handlers/profile/profile.h>
#include <boxcar/schema/operator_name.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>

namespace boxcar::detail {

Profile::Profile(std::span<const std::unique_ptr<CallLog>> logs)
    : paths(1), path_sums(1), per_tick(TickClock::nanosecondsPerTick()) {
  uint64_t first = std::numeric_limits<uint64_t>::max();
  uint64_t last = 0;
  for (const auto& log : logs) {
    first = std::min(first, log->firstTick());
    last = std::max(last, log->lastTick());
  }
  if (!logs.empty()) wall = static_cast<double>(last - first) * per_tick;
  // Round the ends, not the durations, so that calls stay inside the calls that made them.
  const auto nanoseconds = [&](uint64_t tick) { return std::llround(static_cast<double>(tick - first) * per_tick); };
  for (const auto& log : logs) {
    ProfiledThread thread{log->number(), fmt::format("thread {} ({})", log->number(), log->threadId()), {}};
    const std::vector<const CallRecord*> calls_of_thread = log->calls();
    const std::vector<uint32_t> numbers = mergePaths(*log);
    // From the last call that ended: if calls seem to begin and end at the same time, the outer one comes before the
    // inner one.
    for (size_t i = calls_of_thread.size(); i-- > 0;) {
      const CallRecord* call = calls_of_thread[i];
      thread.calls.push_back({call, nanoseconds(call->start), nanoseconds(call->start + call->duration),
                              log->spanOf(*call), numbers[call->key.path()]});
      OperatorSum sum{};
      sum.add(*call);
      if (const DeviceSpan* const span = log->spanOf(*call)) sum.add(*span);
      addToPath(numbers[call->key.path()], sum);
    }
    std::ranges::stable_sort(thread.calls, {},
                             [](const ProfiledCall& call) { return std::pair(call.record->start, -call.end); });
    for (const ProfiledCall& call : thread.calls) {
      if (call.device == nullptr) continue;
      const double origin = (static_cast<double>(log->deviceOrigin()) - static_cast<double>(first)) * per_tick;
      addToLane(*call.device, *call.record, origin);
    }
    threads.push_back(std::move(thread));
    const std::vector<OperatorSum> sums = log->folded();
    folded.insert(folded.end(), sums.begin(), sums.end());
    for (const OperatorSum& sum : sums) addToPath(numbers[sum.key.path()], sum);
    calls += log->callCount();
    calls_folded += log->foldedCount();
    on += static_cast<double>(log->ticksOn()) * per_tick;
    in_calls += static_cast<double>(log->ticksInCalls()) * per_tick;
  }
  for (ProfiledLane& lane : lanes) {
    std::ranges::stable_sort(lane.spans, {},
                             [](const ProfiledLane::Span& span) { return std::pair(span.start, -span.end); });
  }
  for (const ProfileRow& row : rows(ProfileBy::Operator)) on_device += row.device_self;
}

void Profile::addToPath(uint32_t path, const OperatorSum& sum) {
  PathSum& all = path_sums[path];
  all.calls += sum.made_by[0];
  all.failed += sum.failed;
  all.ticks += sum.ticks - sum.child_ticks;
  all.bytes += sum.bytes - sum.child_bytes;
  all.device_time += sum.device_time - sum.child_device_time;
}

std::vector<uint32_t> Profile::mergePaths(const CallLog& log) {
  std::vector<uint32_t> numbers = {CallPaths::kNone};
  const std::vector<CallPaths::Node>& nodes = log.paths().nodes();
  for (size_t i = 1; i < nodes.size(); ++i) {
    const CallFrame& frame = nodes[i].frame;
    const uint32_t parent = numbers[nodes[i].parent];
    const auto [place, is_new] = path_numbers_.try_emplace({parent, frame.function, frame.site.file, frame.site.line},
                                                           static_cast<uint32_t>(paths.size()));
    if (is_new) paths.push_back({parent, frame});
    numbers.push_back(place->second);
  }
  path_sums.resize(paths.size());
  return numbers;
}

void Profile::addToLane(const DeviceSpan& span, const CallRecord& record, double origin) {
  const std::string name = fmt::format("{}, stream {}", span.device, span.stream);
  auto lane = std::ranges::find(lanes, name, &ProfiledLane::name);
  if (lane == lanes.end()) lane = lanes.insert(lanes.end(), {name, {}});
  const int64_t start = std::llround(origin + span.start);
  lane->spans.push_back(
      {&record, start, std::llround(origin + span.start + span.duration), std::llround(span.children)});
  if (device_kind.empty()) {
    device_kind = toString(span.device.type());
    for (char& letter : device_kind) letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  }
}

const std::string& Profile::nameOf(const OperatorEntry* entry) const {
  std::string& name = names_[entry];
  if (name.empty()) name = entry == nullptr ? "(other operators)" : toString(entry->operator_name());
  return name;
}

std::vector<ProfileRow> Profile::rows(ProfileBy by) const {
  const bool is_of_script = by == ProfileBy::Line || by == ProfileBy::Function;
  return is_of_script ? rowsOfScript(by == ProfileBy::Line) : rowsOfOperators(by == ProfileBy::Shape);
}

std::string Profile::functionText(const CallFrame& frame) {
  return frame.function.empty() ? frame.site.file : fmt::format("{} ({})", frame.function, frame.site.file);
}

std::vector<ProfileRow> Profile::rowsOfScript(bool by_line) const {
  const auto nameOfFrame = [by_line](const CallFrame& frame) {
    return by_line ? toString(frame.site) : functionText(frame);
  };
  std::map<std::pair<std::string, uint32_t>, ProfileRow> found;
  for (uint32_t path = 0; path < paths.size(); ++path) {
    const PathSum& sum = path_sums[path];
    const double time = static_cast<double>(sum.ticks) * per_tick;
    // Count a recursive function's time once.
    std::set<const ProfileRow*> seen;
    for (uint32_t at = path;; at = paths[at].parent) {
      const CallFrame& frame = paths[at].frame;
      const bool is_none = at == CallPaths::kNone;
      if (is_none && (path != CallPaths::kNone || (sum.calls == 0 && sum.ticks == 0))) break;
      // Order files by name, and lines by number.
      const auto key = by_line ? std::pair(frame.site.file, frame.site.line) : std::pair(nameOfFrame(frame), 0U);
      ProfileRow& row = found[key];
      row.name = is_none ? "(no script)" : nameOfFrame(frame);
      if (by_line) row.text = frame.site.text;
      if (by_line) row.function = frame.function;
      if (at == path) {
        row.calls += sum.calls;
        row.failed += sum.failed;
        row.self += time;
        row.self_bytes += sum.bytes;
        row.device_self += sum.device_time;
      }
      if (seen.insert(&row).second) {
        row.total += time;
        row.bytes += sum.bytes;
        row.device_total += sum.device_time;
      }
      if (is_none) break;
    }
  }
  std::vector<ProfileRow> rows;
  for (auto& [key, row] : found) rows.push_back(std::move(row));
  return rows;
}

std::vector<ProfileRow> Profile::rowsOfOperators(bool by_shape) const {
  std::map<std::pair<std::string, std::string>, OperatorSum> sums;
  for (const ProfiledThread& thread : threads) {
    for (const ProfiledCall& call : thread.calls) {
      OperatorSum& sum = sums[{nameOf(call.record->key.entry()), by_shape ? call.record->shapesText() : ""}];
      sum.add(*call.record);
      if (call.device != nullptr) sum.add(*call.device);
    }
  }
  for (const OperatorSum& sum : folded) {
    OperatorSum& all = sums[{nameOf(sum.key.entry()), by_shape ? "(not kept)" : ""}];
    all.made_by[0] += sum.made_by[0];
    all.made_by[1] += sum.made_by[1];
    all.failed += sum.failed;
    all.ticks += sum.ticks;
    all.child_ticks += sum.child_ticks;
    all.bytes += sum.bytes;
    all.child_bytes += sum.child_bytes;
    all.device_time += sum.device_time;
    all.child_device_time += sum.child_device_time;
  }
  std::vector<ProfileRow> rows;
  for (const auto& [key, sum] : sums) {
    rows.push_back({.name = key.first,
                    .text = key.second,
                    .function = {},
                    .calls = sum.calls(),
                    .failed = sum.failed,
                    .total = static_cast<double>(sum.ticks) * per_tick,
                    .self = static_cast<double>(sum.ticks - sum.child_ticks) * per_tick,
                    .bytes = sum.bytes,
                    .self_bytes = sum.bytes - sum.child_bytes,
                    .device_total = sum.device_time,
                    .device_self = std::max(0.0, sum.device_time - sum.child_device_time)});
  }
  return rows;
}

}  // namespace boxcar::detail
