#include <boxcar/backends/autograd/forward_mode.h>
#include <boxcar/backends/autograd/gradient_rule.h>
#include <boxcar/backends/cuda/available.h>
#include <boxcar/backends/transforms/autocast.h>
#include <boxcar/backends/transforms/fake_kernel.h>
#include <boxcar/backends/transforms/fake_scope.h>
#include <boxcar/backends/transforms/functionalize.h>
#include <boxcar/backends/transforms/math_bits.h>
#include <boxcar/backends/transforms/vmap_level.h>
#include <boxcar/backends/transforms/zero_tensor.h>
#include <boxcar/dispatcher/registry/explanation.h>
#include <boxcar/interpreter/cli/argument_keys.h>
#include <boxcar/interpreter/cli/command.h>
#include <boxcar/interpreter/cli/entry_json.h>
#include <boxcar/interpreter/cli/explain_text.h>
#include <boxcar/interpreter/cli/find_operator.h>
#include <boxcar/interpreter/cli/script_option.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
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
  bool tangents = false;
  bool functionalize = false;
  bool fake = false;
  std::string script;
  bool json = false;
};

// The scopes and calls of functions that the explained call is in.
class Surroundings final {
 public:
  Surroundings(const ExplainOptions& options, std::vector<ArgumentKeys>& arguments) {
    if (!options.autocast.empty()) casting_.emplace(*parseDeviceType(options.autocast));
    if (options.functionalize) functional_.emplace();
    if (options.tangents) tangents_.emplace();
    if (options.fake) makeFake(arguments);
    DispatchKeySet all;
    uint64_t levels = 0;
    for (const ArgumentKeys& argument : arguments) {
      all |= argument.keys;
      for (const WrappedKeys& wrapped : argument.wrapped) {
        all |= wrapped.inside;
        levels = std::max(levels, wrapped.number);
      }
    }
    if (all.has(DispatchKey::Fake)) transforms::registerFakeKernel();
    if (all.has_any(math_bits_ks)) transforms::registerMathBits();
    if (all.has(DispatchKey::ZeroTensor)) transforms::registerZeroTensorKernels();
    for (uint64_t i = 0; i < levels; ++i) {
      levels_.push_back(std::make_unique<transforms::VmapLevel>(0, transforms::Randomness::kDifferent));
    }
    for (ArgumentKeys& argument : arguments) {
      for (WrappedKeys& wrapped : argument.wrapped) wrapped.level = levels_[wrapped.number - 1]->level();
    }
  }
  ~Surroundings() {
    while (!levels_.empty()) levels_.pop_back();
  }
  Surroundings(const Surroundings&) = delete;
  Surroundings& operator=(const Surroundings&) = delete;

 private:
  void makeFake(std::vector<ArgumentKeys>& arguments) {
    fake_.emplace();
    for (ArgumentKeys& argument : arguments) {
      DispatchKeySet& keys = argument.wrapped.empty() ? argument.keys : argument.wrapped.front().inside;
      if (!argument.dtypes.empty()) keys = keys.add(DispatchKey::Fake);
    }
  }

  std::optional<autocast::AutocastGuard> casting_;
  std::optional<FunctionalizeGuard> functional_;
  std::optional<autograd::ForwardLevel> tangents_;
  std::optional<transforms::FakeTensorGuard> fake_;
  std::vector<std::unique_ptr<transforms::VmapLevel>> levels_;  // the outermost first
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

std::string_view nextOf(const ExplainedLevel& level) {
  switch (level.next) {
    case LevelCall::Next::kBelow: return level.effect.empty() ? "if redispatched" : "below";
    case LevelCall::Next::kAnew: return "anew";
    case LevelCall::Next::kParts: return "from the top";
    case LevelCall::Next::kEnd: return "none";
  }
  return {};
}

OrderedJson toJson(const std::vector<ExplainedLevel>& levels) {
  OrderedJson array = OrderedJson::array();
  for (const ExplainedLevel& each : levels) {
    OrderedJson entry = {{"operator", toString(each.op)}, {"key", toString(each.key)}};
    entry.update(entryToJson(each.table_entry));
    entry["effect"] = each.effect;
    entry["goes_on"] = nextOf(each);
    entry["with"] = keyNamesOf(each.below);
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
          {"levels", toJson(explanation.levels)},
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
  std::vector<ArgumentKeys> arguments;
  DispatchKeySet included;
  DispatchKeySet excluded;
  try {
    arguments = readArguments(op.schema(), options.args);
    included = readAll("--include", options.included);
    excluded = readAll("--exclude", options.excluded);
  } catch (const Error& error) {
    throw CLI::ValidationError(error.message(), CLI::ExitCodes::ValidationError);
  }
  const std::string gradient = autograd::describeGradient(op);
  const IncludeDispatchKeyGuard include(included);
  const ExcludeDispatchKeyGuard exclude(excluded);
  const Surroundings surroundings(options, arguments);
  const std::string casts = autocast::describeCast(op);
  const DispatchExplanation explanation = explainDispatch(op, std::move(arguments));
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
  CLI::App* command = app.add_subcommand("explain", "Explain the way of a call to its kernel, level by level");
  const auto options = std::make_shared<ExplainOptions>();
  command
      ->add_option("OPERATOR", options->op,
                   "Its name, such as 'aten::add.Tensor'; the overload can be omitted if there is only one")
      ->required()
      ->type_name("");
  command
      ->add_option("--arg", options->args,
                   fmt::format("A tensor argument, in order or by name: cpu, cuda, meta, none, cpu,cuda for a list, or "
                               "keys: 'CPU|AutogradCPU'. After a device may come {}. By default all are cpu",
                               kTensorParts))
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
  command->add_flag("--functionalize", options->functionalize, "As in a block with functionalize()");
  command->add_flag("--fake", options->fake, "As in a block with fake(): all tensors are fake");
  command->add_flag("--jvp", options->tangents, "As in a function that func::jvp() differentiates");
  addExamples(*command, {"boxcar explain aten::relu", "boxcar explain aten::add.Tensor --arg cpu+grad --arg other=cuda",
                         "boxcar explain aten::mm --arg cpu+grad+vmap --arg cpu --autocast cpu"});
  addScriptOption(*command, options->script);
  command->add_flag("--json", options->json, "Print everything as a JSON object");
  command->callback([options, &status] {
    static_cast<void>(cuda::isAvailable());  // asking registers its kernels
    explain(*options);
    status = kDone;
  });
}

}  // namespace boxcar::cli
