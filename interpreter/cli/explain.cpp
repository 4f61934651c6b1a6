#include <boxcar/backends/autograd/gradient_rule.h>
#include <boxcar/backends/cuda/available.h>
#include <boxcar/backends/transforms/autocast.h>
#include <boxcar/dispatcher/registry/explanation.h>
#include <boxcar/interpreter/cli/argument_keys.h>
#include <boxcar/interpreter/cli/command.h>
#include <boxcar/interpreter/cli/entry_json.h>
#include <boxcar/interpreter/cli/explain_text.h>
#include <boxcar/interpreter/cli/find_operator.h>
#include <boxcar/interpreter/cli/script_option.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace boxcar::cli {
namespace {

using OrderedJson = nlohmann::ordered_json;

struct ExplainOptions {
  std::string op;
  std::vector<std::string> args;
  std::vector<std::string> included;
  std::vector<std::string> excluded;
  std::string autocast;
  std::string script;
  bool json = false;
};

OrderedJson toJson(const std::vector<PassedKey>& passed) {
  OrderedJson array = OrderedJson::array();
  for (const PassedKey& each : passed) {
    OrderedJson entry = {{"key", toString(each.key)}, {"reason", each.is_excluded ? "excluded" : "fallthrough"}};
    entry.update(entryToJson(each.table_entry));
    array.push_back(std::move(entry));
  }
  return array;
}

OrderedJson toJson(const DispatchExplanation& explanation, const std::string& gradient, const std::string& casts) {
  OrderedJson arguments = OrderedJson::array();
  for (const ArgumentKeys& argument : explanation.arguments) {
    arguments.push_back({{"name", argument.name},
                         {"position", argument.index + 1},
                         {"type", fmt::format("{}", *argument.type)},
                         {"keys", keyNamesOf(argument.keys)}});
  }
  OrderedJson end = {{"key", toString(explanation.chosen)}};
  end.update(entryToJson(explanation.table_entry));
  return {{"operator", toString(explanation.schema.operator_name())},
          {"schema", toString(explanation.schema)},
          {"gradient", gradient},
          {"autocast", casts},
          {"arguments", std::move(arguments)},
          {"merged", keyNamesOf(explanation.merged)},
          {"included", keyNamesOf(explanation.included)},
          {"excluded", keyNamesOf(explanation.excluded)},
          {"lets_through", toJson(explanation.lets_through)},
          {"keys", keyNamesOf(explanation.keys)},
          {"passed", toJson(explanation.passed)},
          {"dispatched_to", std::move(end)},
          {"kernels_for", explanation.kernel_keys}};
}

DispatchKeySet readAll(std::string_view option, const std::vector<std::string>& names) {
  DispatchKeySet keys;
  for (const std::string& name : names) keys = keys.add(readFunctionality(option, name));
  return keys;
}

void explain(const ExplainOptions& options) {
  const std::optional<Program> script = declareScript(options.script);
  const OperatorHandle op = findOperator(options.op);
  std::vector<DispatchKeySet> keys;
  DispatchKeySet included;
  DispatchKeySet excluded;
  try {
    keys = readArgumentKeys(op.schema(), options.args);
    included = readAll("--include", options.included);
    excluded = readAll("--exclude", options.excluded);
  } catch (const Error& error) {
    throw CLI::ValidationError(error.message(), CLI::ExitCodes::ValidationError);
  }
  const std::string gradient = autograd::describeGradient(op);
  const IncludeDispatchKeyGuard include(included);
  const ExcludeDispatchKeyGuard exclude(excluded);
  std::optional<autocast::AutocastGuard> casting;
  if (!options.autocast.empty()) casting.emplace(*parseDeviceType(options.autocast));
  const std::string casts = autocast::describeCast(op);
  const DispatchExplanation explanation = explainDispatch(op, keys);
  print(options.json ? toJson(explanation, gradient, casts).dump(2) + "\n"
                     : explanationText(explanation, gradient, casts));
}

}  // namespace

std::string explanationText(const DispatchExplanation& explanation, const std::string& gradient,
                            const std::string& casts) {
  std::string text = toString(explanation);
  const std::string lines =
      fmt::format("gradient: {}\n", gradient) + (casts.empty() ? "" : fmt::format("autocast: {}\n", casts));
  return text.insert(text.find('\n') + 1, lines);
}

void addExplain(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("explain", "Explain how a call finds its kernel, without running it");
  const auto options = std::make_shared<ExplainOptions>();
  command
      ->add_option("OPERATOR", options->op,
                   "Its name, such as 'aten::add.Tensor'; the overload can be omitted if there is only one")
      ->required()
      ->type_name("");
  command
      ->add_option("--arg", options->args,
                   "The keys of a tensor argument, in order or by name: cpu, cuda, meta, cpu+grad, none, cpu,cuda for "
                   "a list, or 'CPU|AutogradCPU'. By default all are cpu")
      ->type_name("[NAME=]KEYS")
      ->allow_extra_args(false);
  command->add_option("--include", options->included, "A functionality key that the thread includes")
      ->type_name("FUNCTIONALITY")
      ->allow_extra_args(false);
  command->add_option("--exclude", options->excluded, "A functionality key that the thread excludes")
      ->type_name("FUNCTIONALITY")
      ->allow_extra_args(false);
  command->add_option("--autocast", options->autocast, "As in a block with autocast on this device")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->type_name("DEVICE");
  addExamples(*command,
              {"boxcar explain aten::relu", "boxcar explain aten::add.Tensor --arg cpu+grad --arg other=cuda"});
  addScriptOption(*command, options->script);
  command->add_flag("--json", options->json, "Print everything as a JSON object");
  command->callback([options, &status] {
    static_cast<void>(cuda::isAvailable());  // asking registers its kernels
    explain(*options);
    status = kDone;
  });
}

}  // namespace boxcar::cli
