#include <boxcar/backends/autograd/gradient_rule.h>
#include <boxcar/backends/cuda/available.h>
#include <boxcar/backends/transforms/autocast.h>
#include <boxcar/backends/transforms/batching_table.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/interpreter/cli/command.h>
#include <boxcar/interpreter/cli/report.h>
#include <boxcar/interpreter/cli/script_option.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/python_text.h>
#include <fnmatch.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace boxcar::cli {
namespace {

struct OpsOptions {
  std::string pattern;
  std::optional<std::string> key;
  std::string script;
  bool computed = false;
};

// Unlike matchesPattern, which handlers share, a part of a name also selects it; a pattern must match the whole name.
bool isSelected(const std::string& name, const std::string& pattern) {
  if (pattern.find_first_of("*?[") == std::string::npos) return name.find(pattern) != std::string::npos;
  return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

// Whether calls on tensors inside func::vmap() can reach [op].
bool takesTensors(const OperatorHandle& op) {
  return std::ranges::any_of(op.schema().arguments(), [](const Argument& argument) {
    const TypePtr type = argument.type()->isOptional() ? argument.type()->element() : argument.type();
    return type->underlying()->kind() == TypeKind::Tensor ||
           (type->isList() && type->element()->underlying()->kind() == TypeKind::Tensor);
  });
}

// Returns whether [op] has a kernel registered for [key]; if [computed], whether its computed table entry there runs
// somebody's code.
bool answersAt(const OperatorHandle& op, DispatchKey key, bool computed) {
  if (!computed) return op.hasKernelForDispatchKey(key);
  return Dispatcher::singleton().computeTableEntry(op, key).kernel->kind == KernelKind::Function;
}

DispatchKey readKey(const OpsOptions& options) {
  const DispatchKey key = parseDispatchKey(*options.key);
  if (isRuntimeDispatchKey(key)) return key;
  BOXCAR_CHECK(isAliasDispatchKey(key),
               "--key {}: it is a functionality with a key for each backend; name one of them, such as {}", key,
               toRuntimePerBackendFunctionalityKey(key, BackendComponent::CPUBit));
  BOXCAR_CHECK(
      !options.computed,
      "--computed asks what answers calls, but {} is an alias, and no call has an alias; name one of its keys, such "
      "as {}",
      key, *getRuntimeDispatchKeySet(key).begin());
  return key;
}

int failEmpty(const OpsOptions& options, bool pattern_matches, const std::vector<OperatorName>& names) {
  if (pattern_matches) {
    // --computed is not suggested for an alias key, because no call has one.
    const bool is_alias = isAliasDispatchKey(readKey(options));
    const bool is_without_device = *options.key == "CUDA" && !cuda::isAvailable();
    reportFailure(fmt::format(
        "no operator{} has a kernel {} {}{}{}",
        options.pattern.empty() ? "" : fmt::format(" that matches '{}'", options.pattern),
        options.computed ? "that answers at" : "registered for", *options.key,
        is_alias || options.computed ? "" : "; --computed also lists those that another key's kernel answers for",
        is_without_device ? "; " + cuda::summary() : ""));
    return kFailed;
  }
  std::vector<std::string_view> candidates;
  for (const OperatorName& name : names) {
    // Overloads are adjacent.
    if (candidates.empty() || candidates.back() != name.name) candidates.push_back(name.name);
  }
  reportFailure(fmt::format("no operator matches '{}'.{}", options.pattern, didYouMean(options.pattern, candidates)));
  return kFailed;
}

int listOperators(const OpsOptions& options) {
  if (options.key.has_value()) static_cast<void>(cuda::isAvailable());  // asking registers its kernels
  const std::optional<Program> script = declareScript(options.script);
  if (options.key.has_value()) autograd::registerAutogradKernels();
  if (options.key.has_value()) autocast::registerAutocastKernels();
  std::optional<DispatchKey> key;
  try {
    if (options.key.has_value()) key = readKey(options);
  } catch (const Error& error) {
    throw CLI::ValidationError(error.message(), CLI::ExitCodes::ValidationError);
  }
  std::vector<OperatorName> names = Dispatcher::singleton().getAllOpNames();
  std::ranges::sort(names, {}, [](const OperatorName& name) { return toString(name); });
  bool found = false;
  bool matches = false;
  for (const OperatorName& name : names) {
    if (!isSelected(toString(name), options.pattern)) continue;
    matches = true;
    const auto op = Dispatcher::singleton().findSchema(name);
    if (op.has_value() && key == DispatchKey::FuncTorchBatched && !options.computed) {
      if (!takesTensors(*op)) continue;
      found = true;
      print(fmt::format("{}  # {}\n", toString(name), transforms::describeBatching(*op)));
      continue;
    }
    if (!op.has_value() || (key.has_value() && !answersAt(*op, *key, options.computed))) continue;
    found = true;
    print(toString(op->schema()) + "\n");
  }
  return found ? kDone : failEmpty(options, matches, names);
}

}  // namespace

void addOps(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("ops", "List the schemas of operators");
  const auto options = std::make_shared<OpsOptions>();
  command->add_option("PATTERN", options->pattern, "Only those whose name contains it, or matches it if it has * ? [")
      ->type_name("");
  CLI::Option* const key =
      command->add_option("--key", options->key, "Only those with a kernel registered for this dispatch key")
          ->type_name("KEY");
  addExamples(*command, {"boxcar ops relu", "boxcar ops 'aten::add*'", "boxcar ops --key CUDA --computed",
                         "boxcar ops 'aten::*softmax' --key FuncTorchBatched"});
  command
      ->add_flag("--computed", options->computed, "Also those that a kernel for an alias, or a fallback, serves there")
      ->needs(key);
  addScriptOption(*command, options->script);
  command->callback([options, &status] { status = listOperators(*options); });
}

}  // namespace boxcar::cli
