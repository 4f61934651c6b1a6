#include <boxcar/dispatcher/handlers/profile/chrome_trace.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace boxcar::detail {
namespace {

// Returns JSON. Only scalars of nlohmann's values are used: destroying its lists and objects allocates memory, which
// ends the program if there is none.
std::string jsonText(std::string_view text) { return nlohmann::json(text).dump(); }

std::string argsOf(const CallRecord& call, const CallFrame& frame) {
  std::string shapes;
  std::string dtypes;
  for (size_t i = 0; i < call.tensors; ++i) {
    const char* const comma = i == 0 ? "" : ",";
    shapes += comma + jsonText(call.shapeText(i));
    dtypes += comma + jsonText(dtypeName(call.dtypes[i]));
  }
  const char* const more = !call.has_more_tensors ? "" : call.tensors == 0 ? "\"…\"" : ",\"…\"";
  std::string from;
  if (frame.site.line != 0) {
    from = fmt::format(R"(,"line":{},"source":{},"function":{})", jsonText(toString(frame.site)),
                       jsonText(frame.site.text), jsonText(frame.function));
  }
  return fmt::format(R"({{"shapes":[{}{}],"dtypes":[{}{}],"key":{},"bytes":{},"self bytes":{}{}{}}})", shapes, more,
                     dtypes, more, jsonText(toString(call.kernelKey())), call.bytes, call.bytes - call.child_bytes,
                     call.failed ? ",\"failed\":true" : "", from);
}

// Device lanes come after the threads.
constexpr uint32_t kFirstLane = 1000000;

struct Event {
  const ProfiledThread* thread;
  const ProfiledCall* call;
};

// Returns the events of all threads, ordered by time.
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
  text += fmt::format(R"({{"program":"boxcar","calls":{},"calls left out":{}}})", profile.calls, profile.calls_folded);
  text += ",\"traceEvents\":[\n";
  const char* separator = "";
  const auto nameThread = [&](uint32_t number, const std::string& name) {
    text += fmt::format(R"({}{{"name":"thread_name","ph":"M","pid":{},"tid":{},"args":{{"name":{}}}}})", separator,
                        process, number, jsonText(name));
    separator = ",\n";
  };
  for (const ProfiledThread& thread : profile.threads) nameThread(thread.number, thread.name);
  for (size_t i = 0; i < profile.lanes.size(); ++i)
    nameThread(kFirstLane + static_cast<uint32_t>(i), profile.lanes[i].name);
  std::map<const OperatorEntry*, std::string> names;
  constexpr size_t kBlock = 1 << 20;
  const auto flush = [&] {
    file.write(std::as_bytes(std::span(text)));
    text.clear();
  };
  const auto add = [&](const char* category, const CallRecord& record, int64_t start, int64_t end, uint32_t thread,
                       uint32_t path) {
    std::string& name = names[record.key.entry()];
    if (name.empty()) name = jsonText(profile.nameOf(record.key.entry()));
    start = std::max<int64_t>(start, 0);
    // Nanoseconds as microseconds with three decimals, which are exact where a double would not be.
    const int64_t duration = std::max<int64_t>(end - start, 0);
    text += fmt::format(
        "{}{{\"name\":{},\"cat\":\"{}\",\"ph\":\"X\",\"ts\":{}.{:03},\"dur\":{}.{:03},\"pid\":{},"
        "\"tid\":{},\"args\":{}}}",
        separator, name, category, start / 1000, start % 1000, duration / 1000, duration % 1000, process, thread,
        argsOf(record, profile.paths[path].frame));
    separator = ",\n";
    if (text.size() > kBlock) flush();
  };
  for (const auto& [thread, call] : eventsOf(profile))
    add("operator", *call->record, call->start, call->end, thread->number, call->path);
  for (size_t i = 0; i < profile.lanes.size(); ++i) {
    for (const ProfiledLane::Span& span : profile.lanes[i].spans)
      add("device", *span.record, span.start, span.end, kFirstLane + static_cast<uint32_t>(i), CallPaths::kNone);
  }
  text += "\n]}\n";
  flush();
}

}  // namespace boxcar::detail
