#include <boxcar/dispatcher/handlers/report_table.h>
#include <boxcar/interpreter/cli/bench/report.h>
#include <boxcar/version.h>
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace boxcar::cli {
namespace {

using OrderedJson = nlohmann::ordered_json;

std::string conclusion(const std::vector<BenchTable>& tables) {
  std::string text;
  for (const BenchTable& table : tables) {
    const BenchRow* boxed = table.find(kBoxedCall);
    if (boxed == nullptr || table.find(kTypedCall) == nullptr) continue;
    text += text.empty() ? fmt::format("A boxed call of {} takes {:.2f} times as long as a typed one", table.title,
                                       boxed->time.ratio)
                         : fmt::format(", {:.2f} times for {}", boxed->time.ratio, table.title);
  }
  return text.empty() ? text : text + ".\n";
}

void appendTable(std::string& text, const BenchTable& table) {
  const bool counted =
      std::ranges::any_of(table.rows, [](const BenchRow& row) { return row.instructions.has_value(); });
  const bool has_typed = table.find(kTypedCall) != nullptr;
  std::vector<std::vector<std::string>> lines = {
      {"", "median ns", "min", "25 %", "75 %", has_typed ? "of typed" : "of boxed"}};
  if (counted) lines[0].emplace_back("instructions");
  for (const BenchRow& row : table.rows) {
    lines.push_back({"  " + row.name, formatNanoseconds(row.time.median), formatNanoseconds(row.time.min),
                     formatNanoseconds(row.time.first_quartile), formatNanoseconds(row.time.third_quartile),
                     fmt::format("{:.2f}", row.time.ratio)});
    if (row.instructions.has_value()) lines.back().push_back(fmt::format("{:.0f}", *row.instructions));
  }
  text += table.title + '\n' + reportTable(lines);
  for (const SkippedPath& path : table.skipped) {
    text += fmt::format("  {}: not measured: {}\n", path.name, path.reason);
  }
  text += '\n';
}

}  // namespace

const BenchRow* BenchTable::find(const std::string& name) const {
  const auto row = std::ranges::find(rows, name, &BenchRow::name);
  return row == rows.end() ? nullptr : &*row;
}

BenchTable makeTable(const BenchGroup& group, const std::vector<BenchTime>& times,
                     const std::vector<std::optional<double>>& counts) {
  BenchTable table{group.title, toString(group.call.op), toString(group.call.op.schema()), {}, group.skipped};
  for (size_t i = 0; i < times.size(); ++i) table.rows.push_back({group.paths[i].name, times[i], counts[i]});
  return table;
}

std::string toText(const std::vector<BenchTable>& tables) {
  std::string text;
  for (const BenchTable& table : tables) appendTable(text, table);
  return text + conclusion(tables);
}

std::string toJson(const std::vector<BenchTable>& tables) {
  OrderedJson operators = OrderedJson::array();
  for (const BenchTable& table : tables) {
    OrderedJson rows = OrderedJson::array();
    for (const BenchRow& row : table.rows) {
      rows.push_back({{"name", row.name},
                      {"nanoseconds",
                       {{"min", row.time.min},
                        {"first_quartile", row.time.first_quartile},
                        {"median", row.time.median},
                        {"third_quartile", row.time.third_quartile}}},
                      {"ratio", row.time.ratio},
                      {"instructions", row.instructions.has_value() ? OrderedJson(*row.instructions) : OrderedJson()}});
    }
    OrderedJson skipped = OrderedJson::array();
    for (const SkippedPath& path : table.skipped) skipped.push_back({{"name", path.name}, {"reason", path.reason}});
    operators.push_back({{"call", table.title},
                         {"operator", table.operator_name},
                         {"schema", table.schema},
                         {"ratio_to", table.find(kTypedCall) != nullptr ? kTypedCall : kBoxedCall},
                         {"rows", std::move(rows)},
                         {"skipped", std::move(skipped)}});
  }
  const OrderedJson report = {{"version", BOXCAR_VERSION}, {"operators", std::move(operators)}};
  return report.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

std::string formatNanoseconds(double nanoseconds) {
  return fmt::format("{:.{}f}", nanoseconds, nanoseconds < 9.995 ? 2 : nanoseconds < 99.95 ? 1 : 0);
}

}  // namespace boxcar::cli
