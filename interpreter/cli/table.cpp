#include <boxcar/backends/autograd/gradient_rule.h>
#include <boxcar/backends/cuda/available.h>
#include <boxcar/backends/transforms/autocast.h>
#include <boxcar/dispatcher/handlers/report_table.h>
#include <boxcar/dispatcher/registry/entry_text.h>
#include <boxcar/interpreter/cli/command.h>
#include <boxcar/interpreter/cli/entry_json.h>
#include <boxcar/interpreter/cli/find_operator.h>
#include <boxcar/interpreter/cli/output_option.h>
#include <boxcar/interpreter/cli/script_option.h>
#include <boxcar/interpreter/cli/table_grid.h>
#include <boxcar/interpreter/cli/table_text.h>
#include <boxcar/ivalue/output_file.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace boxcar::cli {
namespace {

using OrderedJson = nlohmann::ordered_json;

struct TableOptions {
  std::string op;
  bool all = false;
  bool every = false;
  bool json = false;
  std::string html;
  std::string script;
};

}  // namespace

std::string tableText(const OperatorHandle& op, bool every) {
  const std::string gradient = autograd::describeGradient(op);  // these come first: they register kernels
  const std::string casts = autocast::describeAutocast(op);
  const TableRows table = tableRowsOf(op, every);
  std::string text = fmt::format("{}\ndefined at {}\ngradient: {}\n", op.schema(), op.entry().schemaSite(), gradient) +
                     (casts.empty() ? "" : fmt::format("autocast: {}\n", casts)) + reportTable(table.rows, "<");
  if (every) return text;
  return text + fmt::format("{} keys have their default and {} are missing; --every shows them\n", table.defaults,
                            table.missing);
}

namespace {

OrderedJson tableJson(const OperatorHandle& op, bool every) {
  std::string gradient = autograd::describeGradient(op);  // as above
  std::string casts = autocast::describeAutocast(op);
  const TableGrid grid = gridOf(op);
  OrderedJson table_entries = OrderedJson::array();
  for (size_t i = 0; i < grid.keys.size(); ++i) {
    const TableEntry& table_entry = grid.rows[0].table_entries[i];
    if (!every && table_entry.cause == EntryCause::Missing) continue;
    OrderedJson entry = {{"key", toString(grid.keys[i])}};
    entry.update(entryToJson(table_entry));
    table_entries.push_back(std::move(entry));
  }
  return {{"operator", toString(op.operator_name())},
          {"schema", toString(op.schema())},
          {"site", toString(op.entry().schemaSite())},
          {"gradient", std::move(gradient)},
          {"autocast", std::move(casts)},
          {"cells", std::move(table_entries)}};
}

std::string wordOf(const TableEntry& table_entry) {
  if (table_entry.cause == EntryCause::Missing) return ".";
  if (table_entry.cause == EntryCause::Default) return "-";
  return std::string(table_entry.kernel->isFallthrough() ? "through" : toString(table_entry.cause));
}

std::string gridText(const TableGrid& grid) {
  std::vector<std::vector<std::string>> lines = {{""}};
  for (const DispatchKey key : grid.keys) lines[0].emplace_back(toString(key));
  for (const TableGrid::Row& row : grid.rows) {
    std::vector<std::string>& line = lines.emplace_back();
    // cppcheck-suppress invalidContainerReference ; nothing is added to lines while its last is filled
    line.push_back(toString(row.op.operator_name()));
    for (const TableEntry& table_entry : row.table_entries) line.push_back(wordOf(table_entry));
  }
  return reportTable(lines, "<");
}

OrderedJson gridJson(const TableGrid& grid, bool every) {
  OrderedJson keys = OrderedJson::array();
  for (const DispatchKey key : grid.keys) keys.push_back(toString(key));
  OrderedJson operators = OrderedJson::array();
  for (const TableGrid::Row& row : grid.rows) {
    OrderedJson table_entries = OrderedJson::object();
    for (size_t i = 0; i < grid.keys.size(); ++i) {
      if (every || row.table_entries[i].cause != EntryCause::Missing)
        table_entries[std::string(toString(grid.keys[i]))] = entryToJson(row.table_entries[i]);
    }
    operators.push_back({{"operator", toString(row.op.operator_name())},
                         {"schema", toString(row.op.schema())},
                         {"gradient", autograd::describeGradient(row.op)},
                         {"autocast", autocast::describeAutocast(row.op)},
                         {"cells", std::move(table_entries)}});
  }
  return {{"keys", std::move(keys)}, {"operators", std::move(operators)}};
}

bool isTouched(const TableEntry& table_entry) { return !isUntouched(table_entry); }

void showAll(const TableOptions& options) {
  autograd::registerAutogradKernels();
  autocast::registerAutocastKernels();
  if (options.html.empty()) {
    const TableGrid all = gridOfAll();
    if (options.json) {
      print(gridJson(options.every ? all : onlyKeysWith(all, isTouched), options.every).dump(2) + "\n");
    } else {
      print(gridText(options.every ? all : onlyKeysWith(all, isOwn)));
    }
    return;
  }
  OutputFile file(options.html);
  const std::string page = pageOf(options.every ? gridOfAll() : onlyKeysWith(gridOfAll(), isTouched));
  file.write(std::as_bytes(std::span(page)));
  file.commit();
}

void show(const TableOptions& options) {
  const bool is_all = options.all || !options.html.empty();
  if (is_all && !options.op.empty()) {
    throw CLI::ValidationError(fmt::format("{} shows all operators, but '{}' names one; leave one of them out",
                                           options.all ? "--all" : "--html", options.op),
                               CLI::ExitCodes::ValidationError);
  }
  if (!options.html.empty() && options.json)
    throw CLI::ValidationError("--html writes a page, and --json asks for JSON; leave one of them out",
                               CLI::ExitCodes::ValidationError);
  if (!is_all && options.op.empty()) throw CLI::RequiredError("OPERATOR, --all or --html FILE");
  const std::optional<Program> script = declareScript(options.script);
  if (is_all) return showAll(options);
  const OperatorHandle op = findOperator(options.op);
  print(options.json ? tableJson(op, options.every).dump(2) + "\n" : tableText(op, options.every));
}

}  // namespace

void addTable(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("table", "Show the kernel of each dispatch key, and who registered it");
  const auto options = std::make_shared<TableOptions>();
  command
      ->add_option("OPERATOR", options->op,
                   "Its name, such as 'aten::add.Tensor'; the overload can be omitted if there is only one")
      ->type_name("");
  command->add_flag("--all", options->all,
                    "A table of all operators and of all keys with registrations; - is a key's default, . is nothing");
  command->add_flag("--every", options->every, "Show every key, also those without registrations");
  command->add_flag("--json", options->json, "Print JSON");
  addOutputOption(*command, "--html", options->html, "Write all operators as a page for a browser")->type_name("FILE");
  addExamples(*command, {"boxcar table aten::relu", "boxcar table --html operators.html"});
  addScriptOption(*command, options->script);
  command->callback([options, &status] {
    static_cast<void>(cuda::isAvailable());  // asking registers its kernels
    show(*options);
    status = kDone;
  });
}

}  // namespace boxcar::cli
