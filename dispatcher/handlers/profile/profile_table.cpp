#include <boxcar/dispatcher/handlers/profile/profile.h>
#include <boxcar/dispatcher/handlers/profile/profile_table.h>
#include <boxcar/dispatcher/handlers/report_table.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

namespace boxcar::detail {
namespace {

using Row = std::vector<std::string>;

double share(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

std::string percent(double part, double whole) { return fmt::format("{:.2f}%", share(part, whole)); }

void sortRows(std::vector<ProfileRow>& rows, ProfileSort sort) {
  const auto sortByMost = [&rows](auto&& value) {
    std::ranges::stable_sort(rows, [&](const ProfileRow& a, const ProfileRow& b) { return value(a) > value(b); });
  };
  switch (sort) {
    case ProfileSort::Self: return sortByMost([](const ProfileRow& row) { return row.self; });
    case ProfileSort::Total: return sortByMost([](const ProfileRow& row) { return row.total; });
    case ProfileSort::Average:
      return sortByMost(
          [](const ProfileRow& row) { return row.total / static_cast<double>(std::max<uint64_t>(row.calls, 1)); });
    case ProfileSort::Memory: return sortByMost([](const ProfileRow& row) { return row.self_bytes; });
    case ProfileSort::Calls: return sortByMost([](const ProfileRow& row) { return row.calls; });
    case ProfileSort::Name: return;  // rows already come in this order
    case ProfileSort::Device: return sortByMost([](const ProfileRow& row) { return row.device_self; });
  }
}

std::string summary(const Profile& profile, const CallCosts* costs) {
  std::string text = fmt::format("Wall time of the run: {}", durationText(profile.wall));
  if (profile.threads.size() > 1)
    text += fmt::format("; of {} threads together: {}", profile.threads.size(), durationText(profile.on));
  text += fmt::format("\nIn operators: {} ({:.1f}%), in {}\n", durationText(profile.in_calls),
                      share(profile.in_calls, profile.on), plural(profile.calls, "call"));
  if (profile.usesDevice()) {
    text += fmt::format("On {}: {}, by marks around each call in the device's work\n", profile.device_kind,
                        durationText(profile.on_device));
  }
  if (costs != nullptr && profile.calls != 0) {
    const auto line = [&](const char* what, double cost, const char* whence) {
      const double all = std::min(cost * static_cast<double>(profile.calls), profile.on);
      text += fmt::format("{}: about {} ({:.1f}%), an estimate: {:.0f} ns a call{}\n", what, durationText(all),
                          share(all, profile.on), cost, whence);
    };
    line("Dispatch", costs->dispatch, ", measured here on an operator that does nothing");
    line("The profiler itself", costs->profiler, " beside these");
  }
  if (profile.calls_folded != 0) {
    text += fmt::format("The time line lacks the first {}, because there was no room; the table counts them\n",
                        plural(profile.calls_folded, "call"));
  }
  if (profile.failed) text += "The run failed; this is what ran until then\n";
  return text;
}

}  // namespace

std::string durationText(double nanoseconds) {
  if (nanoseconds < 1e3) return fmt::format("{:.0f}ns", nanoseconds);
  if (nanoseconds < 1e6) return fmt::format("{:.3f}us", nanoseconds / 1e3);
  if (nanoseconds < 1e9) return fmt::format("{:.3f}ms", nanoseconds / 1e6);
  return fmt::format("{:.3f}s", nanoseconds / 1e9);
}

std::string memoryText(uint64_t bytes) {
  constexpr std::array kUnits = {"Kb", "Mb", "Gb", "Tb"};
  if (bytes < 1024) return fmt::format("{} b", bytes);
  double amount = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  for (; amount >= 1024 && unit + 1 < kUnits.size(); ++unit) amount /= 1024;
  return fmt::format("{:.2f} {}", amount, kUnits[unit]);
}

std::string profileTable(const Profile& profile, const ProfileTableOptions& options, const CallCosts* costs) {
  std::vector<ProfileRow> rows = profile.rows(options.by);
  sortRows(rows, options.sort);
  const size_t shown = options.limit == 0 ? rows.size() : std::min(options.limit, rows.size());

  const bool is_of_script = options.by == ProfileBy::Line || options.by == ProfileBy::Function;
  const char* const first = options.by == ProfileBy::Line       ? "Line"
                            : options.by == ProfileBy::Function ? "Function"
                                                                : "Name";
  std::vector<Row> table{{first, "Self CPU %", "Self CPU", "CPU total %", "CPU total"}};
  // A line that only calls functions makes no operator calls itself.
  if (!is_of_script) table[0].emplace_back("CPU time avg");
  table[0].insert(table[0].end(), {"Self CPU Mem", "# of Calls"});
  const std::string& device = profile.device_kind;
  if (profile.usesDevice()) {
    for (const char* const form : {"Self {} %", "Self {}", "{} total"})
      table[0].push_back(fmt::format(fmt::runtime(form), device));
  }
  const size_t numbers = table[0].size() - 1;
  if (options.by == ProfileBy::Shape) table[0].emplace_back("Input Shapes");
  if (options.by == ProfileBy::Line) table[0].insert(table[0].end(), {"Function", "Source"});
  for (size_t i = 0; i < shown; ++i) {
    const ProfileRow& row = rows[i];
    Row& cells = table.emplace_back(Row{row.name, percent(row.self, profile.in_calls), durationText(row.self),
                                        percent(row.total, profile.in_calls), durationText(row.total)});
    if (!is_of_script) cells.push_back(durationText(row.total / static_cast<double>(row.calls)));
    cells.insert(cells.end(), {memoryText(row.self_bytes), std::to_string(row.calls)});
    if (profile.usesDevice()) {
      cells.insert(cells.end(), {percent(row.device_self, profile.on_device), durationText(row.device_self),
                                 durationText(row.device_total)});
    }
    if (options.by == ProfileBy::Shape) cells.push_back(row.text);
    if (options.by == ProfileBy::Line) cells.insert(cells.end(), {row.function, row.text});
  }
  const std::string sides = "<" + std::string(numbers, '>') + "<";
  std::string text = rows.empty() ? "No operator was called\n" : reportTable(table, sides);
  if (shown < rows.size()) text += fmt::format("… and {} more\n", rows.size() - shown);
  return text + summary(profile, costs);
}

}  // namespace boxcar::detail
