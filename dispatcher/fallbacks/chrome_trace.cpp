#include <boxcar/dispatcher/fallbacks/chrome_trace.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace boxcar::detail {
namespace {

using Json = nlohmann::ordered_json;

Json argsOf(const CallRecord& call) {
  Json shapes = Json::array();
  Json dtypes = Json::array();
  for (size_t i = 0; i < call.tensors; ++i) {
    shapes.push_back(call.shapeText(i));
    dtypes.push_back(dtypeName(call.dtypes[i]));
  }
  if (call.has_more_tensors) {
    shapes.push_back("…");
    dtypes.push_back("…");
  }
  Json args = {{"shapes", std::move(shapes)},
               {"dtypes", std::move(dtypes)},
               {"key", toString(call.kernelKey())},
               {"bytes", call.bytes},
               {"self bytes", call.bytes - call.child_bytes}};
  if (call.failed) args["failed"] = true;
  return args;
}

struct Event {
  const ProfiledThread* thread;
  const ProfiledCall* call;
};

// Of all threads, in the order of time.
std::vector<Event> eventsOf(const Profile& profile) {
  std::vector<Event> events;
  for (const ProfiledThread& thread : profile.threads) {
    for (const ProfiledCall& call : thread.calls) events.push_back({&thread, &call});
  }
  std::ranges::stable_sort(events, {}, [](const Event& event) { return event.call->start; });
  return events;
}

}  // namespace

void writeChromeTrace(const Profile& profile, OutputFile& file) {
  const int process = ::getpid();
  std::string text = "{\"displayTimeUnit\":\"ns\",\"otherData\":";
  text += Json{{"program", "boxcar"}, {"calls", profile.calls}, {"calls left out", profile.calls_folded}}.dump();
  text += ",\"traceEvents\":[\n";
  const char* separator = "";
  for (const ProfiledThread& thread : profile.threads) {
    text += separator + Json{{"name", "thread_name"},
                             {"ph", "M"},
                             {"pid", process},
                             {"tid", thread.number},
                             {"args", {{"name", thread.name}}}}
                            .dump();
    separator = ",\n";
  }
  std::map<const OperatorEntry*, std::string> names;
  constexpr size_t kBlock = 1 << 20;
  const auto flush = [&] {
    file.write(std::as_bytes(std::span(text)));
    text.clear();
  };
  for (const auto& [thread, call] : eventsOf(profile)) {
    std::string& name = names[call->record->entry];
    if (name.empty()) name = Json(profile.nameOf(call->record->entry)).dump();
    // Nanoseconds as microseconds with three digits, which are exact where a double's are not.
    const int64_t duration = call->end - call->start;
    fmt::format_to(std::back_inserter(text),
                   "{}{{\"name\":{},\"cat\":\"operator\",\"ph\":\"X\",\"ts\":{}.{:03},\"dur\":{}.{:03},\"pid\":{},"
                   "\"tid\":{},\"args\":{}}}",
                   separator, name, call->start / 1000, call->start % 1000, duration / 1000, duration % 1000, process,
                   thread->number, argsOf(*call->record).dump());
    separator = ",\n";
    if (text.size() > kBlock) flush();
  }
  text += "\n]}\n";
  flush();
}

}  // namespace boxcar::detail
