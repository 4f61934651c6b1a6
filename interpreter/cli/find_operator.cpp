#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/interpreter/cli/find_operator.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/python_text.h>
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace boxcar::cli {
namespace {

std::string listNames(const std::vector<OperatorHandle>& ops) {
  std::vector<std::string> names;
  for (const OperatorHandle& op : ops) names.push_back(toString(op.operator_name()));
  return fmt::format("{}", fmt::join(names, ", "));
}

// Throws Error that suggests near names, for "aten::add.Tensr" or "add".
[[noreturn]] void failUnknown(const std::string& name, const std::string& without_overload) {
  const std::vector<OperatorHandle> overloads = Dispatcher::singleton().findOverloads(without_overload);
  BOXCAR_CHECK(overloads.empty(), "there is no operator '{}'; the overloads of {} are: {}", name, without_overload,
               listNames(overloads));
  std::vector<std::string> all;
  const std::vector<OperatorName> names = Dispatcher::singleton().getAllOpNames();
  const bool has_namespace = name.find("::") != std::string::npos;
  const bool has_overload = without_overload != name;
  for (const OperatorName& each : names) {
    all.push_back(has_overload ? toString(each) : each.name);
  }
  if (!has_namespace) {
    for (const std::string& text : all) {
      if (text.substr(text.find("::") + 2) == name)
        BOXCAR_FAIL("there is no operator '{}'; a name begins with its namespace: {}", name, text);
    }
  }
  std::ranges::sort(all);
  const std::vector<std::string_view> candidates(all.begin(), std::ranges::unique(all).begin());
  BOXCAR_FAIL("there is no operator '{}'.{} `boxcar ops` lists all", name, didYouMean(name, candidates));
}

}  // namespace

OperatorHandle findOperator(const std::string& name) {
  const Dispatcher& dispatcher = Dispatcher::singleton();
  const size_t dot = name.find('.');
  const OperatorName wanted(name.substr(0, dot), dot == std::string::npos ? "" : name.substr(dot + 1));
  if (const auto op = dispatcher.findSchema(wanted)) return *op;
  // Scripts write "default" for the overload without a name.
  if (wanted.overload_name == "default") {
    if (const auto op = dispatcher.findSchema(OperatorName(wanted.name, ""))) return *op;
  }
  if (dot != std::string::npos) failUnknown(name, wanted.name);
  const std::vector<OperatorHandle> overloads = dispatcher.findOverloads(name);
  if (overloads.empty()) failUnknown(name, wanted.name);
  BOXCAR_CHECK(overloads.size() == 1, "{} has several overloads; name one: {}", name, listNames(overloads));
  return overloads[0];
}

}  // namespace boxcar::cli
