#include <boxcar/dispatcher/handlers/page_data.h>
#include <boxcar/dispatcher/handlers/profile/profile_page.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

namespace boxcar::detail {

// profile_page.html, embedded by CMake.
extern const std::string_view kProfilePage;

namespace {

using Json = nlohmann::ordered_json;

// Texts that many calls share, each stored once.
class TextTable final {
 public:
  size_t indexOf(const std::string& text) {
    const auto [place, is_new] = places_.try_emplace(text, texts_.size());
    if (is_new) texts_.push_back(text);
    return place->second;
  }
  const Json& texts() const noexcept { return texts_; }

 private:
  std::map<std::string, size_t> places_;
  Json texts_ = Json::array();
};

Json tableOf(const std::vector<ProfileRow>& rows) {
  Json table = Json::array();
  for (const ProfileRow& row : rows) {
    table.push_back({row.name, row.calls, std::llround(row.self), std::llround(row.total), row.self_bytes, row.failed,
                     std::llround(row.device_self), std::llround(row.device_total), row.text, row.function});
  }
  return table;
}

const char* nameOf(ProfileBy by) {
  switch (by) {
    case ProfileBy::Operator: break;
    case ProfileBy::Shape: return "shapes";
    case ProfileBy::Line: return "lines";
    case ProfileBy::Function: return "functions";
  }
  return "operators";
}

// Returns the data that the page's script reads; the layout is described there.
Json dataOf(const Profile& profile, ProfileBy by) {
  TextTable names;
  TextTable details;
  Json threads = Json::array();
  for (const ProfiledThread& thread : profile.threads) {
    Json calls = Json::array();
    for (const ProfiledCall& call : thread.calls) {
      const CallRecord& record = *call.record;
      const std::string detail =
          fmt::format("{}\n{}\n{}", toString(record.kernelKey()), record.shapesText(), record.dtypesText());
      const std::initializer_list<int64_t> numbers = {
          static_cast<int64_t>(names.indexOf(profile.nameOf(record.key.entry()))),
          call.start,
          call.end - call.start,
          static_cast<int64_t>(record.bytes - record.child_bytes),
          static_cast<int64_t>(details.indexOf(detail)),
          record.failed ? 1 : 0,
          static_cast<int64_t>(call.path)};
      for (const int64_t number : numbers) calls.push_back(number);
    }
    threads.push_back({{"name", thread.name}, {"calls", std::move(calls)}});
  }
  Json lanes = Json::array();
  for (const ProfiledLane& lane : profile.lanes) {
    Json spans = Json::array();
    for (const ProfiledLane::Span& span : lane.spans) {
      const std::string detail = fmt::format("{}\n{}", span.record->shapesText(), span.record->dtypesText());
      const std::initializer_list<int64_t> numbers = {
          static_cast<int64_t>(names.indexOf(profile.nameOf(span.record->key.entry()))),
          std::max<int64_t>(span.start, 0),
          std::max<int64_t>(span.end - span.start, 0),
          0,
          static_cast<int64_t>(details.indexOf(lane.name + "\n" + detail)),
          0,
          0};
      for (const int64_t number : numbers) spans.push_back(number);
    }
    lanes.push_back({{"name", lane.name}, {"calls", std::move(spans)}});
  }
  Json paths = Json::array();
  for (const CallPaths::Node& node : profile.paths) {
    const CallSite& site = node.frame.site;
    paths.push_back({node.parent, node.frame.function, site.file, site.line, site.text});
  }
  Json tables;
  for (const ProfileBy each : {ProfileBy::Operator, ProfileBy::Shape, ProfileBy::Line, ProfileBy::Function})
    tables[nameOf(each)] = tableOf(profile.rows(each));
  return {{"names", names.texts()},
          {"details", details.texts()},
          {"paths", std::move(paths)},
          {"threads", std::move(threads)},
          {"lanes", std::move(lanes)},
          {"device", profile.device_kind},
          {"tables", std::move(tables)},
          {"onDevice", std::llround(profile.on_device)},
          {"shown", nameOf(by)},
          {"wall", std::llround(profile.wall)},
          {"on", std::llround(profile.on)},
          {"inCalls", std::llround(profile.in_calls)},
          {"calls", profile.calls},
          {"leftOut", profile.calls_folded},
          {"failed", profile.failed}};
}

}  // namespace

void writeProfilePage(const Profile& profile, ProfileBy by, OutputFile& file) {
  const std::string page = pageWithData(kProfilePage, dataOf(profile, by).dump());
  file.write(std::as_bytes(std::span(page)));
}

}  // namespace boxcar::detail
