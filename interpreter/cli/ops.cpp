#include <boxcar/dispatcher/dispatcher.h>
#include <boxcar/interpreter/cli/command.h>
#include <boxcar/ivalue/python_text.h>
#include <fnmatch.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace boxcar::cli {
namespace {

bool isSelected(const std::string& name, const std::string& pattern) {
  if (pattern.find_first_of("*?[") == std::string::npos) return name.find(pattern) != std::string::npos;
  return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

int listOperators(const std::string& pattern) {
  std::vector<OperatorName> names = Dispatcher::singleton().getAllOpNames();
  std::ranges::sort(names, {}, [](const OperatorName& name) { return toString(name); });
  bool found = false;
  for (const OperatorName& name : names) {
    if (!isSelected(toString(name), pattern)) continue;
    found = true;
    if (const auto op = Dispatcher::singleton().findSchema(name)) print(toString(op->schema()) + "\n");
  }
  if (found) return kDone;
  std::vector<std::string_view> candidates;
  for (const OperatorName& name : names) {
    // Overloads stand side by side.
    if (candidates.empty() || candidates.back() != name.name) candidates.push_back(name.name);
  }
  printError(fmt::format("boxcar: no operator matches '{}'.{}\n", pattern, didYouMean(pattern, candidates)));
  return kFailed;
}

}  // namespace

void addOps(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("ops", "List operators by their schemas");
  const auto pattern = std::make_shared<std::string>();
  command->add_option("PATTERN", *pattern, "Only those whose name contains it; or, with * ? [ in it, matches it")
      ->type_name("");
  command->callback([pattern, &status] { status = listOperators(*pattern); });
}

}  // namespace boxcar::cli
