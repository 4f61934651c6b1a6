#include <boxcar/backends/cuda/available.h>
#include <boxcar/dispatcher/handlers/handler_kinds.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/dispatcher/registry/name_pattern.h>
#include <boxcar/interpreter/cli/handler_options.h>
#include <boxcar/interpreter/cli/output_option.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/python_text.h>
#include <boxcar/schema/function_schema.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace boxcar::cli {
namespace {

std::string optionName(const HandlerKind& kind) {
  std::string name = "--" + std::string(kind.name());
  std::ranges::replace(name, '_', '-');
  return name;
}

// Returns [text] as a value of [type]; nullopt if it is none.
std::optional<IValue> parseValue(std::string_view text, TypePtr type) {
  const auto number = [&]<class T>(T value) -> std::optional<IValue> {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return IValue(value);
  };
  switch (type->kind()) {
    case TypeKind::String: return IValue(std::string(text));
    case TypeKind::Int: return number(int64_t{0});
    case TypeKind::Float: return number(0.0);
    case TypeKind::Bool:
      if (text == "True" || text == "true" || text == "1") return IValue(true);
      if (text == "False" || text == "false" || text == "0") return IValue(false);
      return std::nullopt;
    default: return std::nullopt;
  }
}

// Returns the arguments that "aten::mm,n=3" gives to this kind; without a text, all arguments take their defaults.
std::vector<IValue> readArguments(const std::string& option, const HandlerKind& kind,
                                  std::optional<std::string_view> written) {
  const FunctionSchema& schema = kind.parsedSchema();
  const std::vector<Argument>& parameters = schema.arguments();
  std::vector<std::optional<IValue>> given(parameters.size());
  const auto set = [&](size_t i, std::string_view value) {
    given[i] = parseValue(value, parameters[i].type());
    if (!given[i].has_value()) {
      throw CLI::ValidationError(
          option, fmt::format("`{}` must be {}, but it is '{}'", parameters[i].name(), *parameters[i].type(), value));
    }
    if (parameters[i].name() != "path") return;
    const std::string fault = faultOfOutput(given[i]->toStringRef());
    if (!fault.empty()) throw CLI::ValidationError(option, fault);
  };
  std::string_view text = written.value_or("");
  for (bool is_first = written.has_value(); !text.empty() || is_first; is_first = false) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    const size_t equals = part.find('=');
    const std::string_view name = part.substr(0, equals);
    const auto named = equals == std::string_view::npos ? std::nullopt : schema.argumentIndexWithName(name);
    if (named) {
      set(static_cast<size_t>(*named), part.substr(equals + 1));
    } else if (is_first && !parameters.empty()) {
      set(0, part);
    } else {
      std::vector<std::string_view> names;
      for (size_t i = 1; i < parameters.size(); ++i) names.push_back(parameters[i].name());
      const bool lacks_value = equals == std::string_view::npos && schema.argumentIndexWithName(name).has_value();
      throw CLI::ValidationError(
          option, fmt::format("'{}' is not understood.{} After the first value, name the others: {}", part,
                              lacks_value ? fmt::format(" Write {}=…", name) : didYouMean(name, names), schema));
    }
  }
  std::vector<IValue> values;
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (!given[i].has_value()) {
      if (!parameters[i].default_value().has_value())
        throw CLI::ValidationError(option, fmt::format("`{}` is missing: {}", parameters[i].name(), schema));
      given[i] = *parameters[i].default_value();
    }
    values.push_back(*std::move(given[i]));
  }
  const std::string fault = kind.faultOf(values);
  if (!fault.empty()) throw CLI::ValidationError(option, fault);
  return values;
}

// Suggests names as in a pattern: with a namespace, and with an overload if the pattern has one.
std::string nearOperators(const std::string& pattern) {
  std::vector<std::string> all;
  for (const OperatorName& name : Dispatcher::singleton().getAllOpNames()) {
    std::string text = pattern.find('.') == std::string::npos ? name.name : toString(name);
    if (pattern.find("::") == std::string::npos) text.erase(0, text.find("::") + 2);
    all.push_back(std::move(text));
  }
  std::ranges::sort(all);
  const std::vector<std::string_view> candidates(all.begin(), std::ranges::unique(all).begin());
  return didYouMean(pattern, candidates);
}

}  // namespace

void addHandlerOptions(CLI::App& command) {
  for (const HandlerKind* kind : handlerKinds()) {
    // The command of that name has its own option.
    if (command.get_name() == kind->name()) continue;
    const FunctionSchema& schema = kind->parsedSchema();
    const std::string name = optionName(*kind);
    CLI::Option* option = nullptr;
    if (schema.arguments().empty()) {
      option = command.add_flag(name)->description(std::string(kind->help));
    } else {
      std::string more;
      for (size_t i = 1; i < schema.arguments().size(); ++i)
        more += fmt::format("[,{}=…]", schema.arguments()[i].name());
      option = command.add_option(name)->description(std::string(kind->help))->expected(1)->allow_extra_args(false);
      option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
      std::string first = schema.arguments()[0].name();
      std::ranges::transform(first, first.begin(), [](char c) { return static_cast<char>(std::toupper(c)); });
      option->type_name(first + more);
    }
    option->group("Handlers, which wrap every operator call; the first is the outermost");
  }
}

std::vector<RunOptions::Request> readHandlerOptions(const CLI::App& command) {
  std::vector<RunOptions::Request> requests;
  std::map<const CLI::Option*, size_t> taken;
  for (const CLI::Option* option : command.parse_order()) {
    for (const HandlerKind* kind : handlerKinds()) {
      if (!option->check_name(optionName(*kind))) continue;
      const auto& results = option->results();
      const size_t index = taken[option]++;
      const bool has_value = option->get_items_expected_max() != 0 && index < results.size();
      requests.push_back(
          {kind, has_value ? readArguments(optionName(*kind), *kind, results[index]) : std::vector<IValue>()});
    }
  }
  return requests;
}

std::unique_ptr<Handler> makeHandler(const HandlerKind& kind, std::string_view text) {
  if (kind.parsedSchema().arguments().empty()) {
    BOXCAR_CHECK(text.empty(), "{} takes no arguments", kind.name());
    return kind.make({});
  }
  try {
    const auto written = text.empty() ? std::nullopt : std::optional(text);
    return kind.make(readArguments(std::string(kind.name()), kind, written));
  } catch (const CLI::ValidationError& error) {
    throw RuntimeError(error.what());
  }
}

std::vector<OutputName> handlerOutputs(const std::vector<RunOptions::Request>& requests) {
  std::vector<OutputName> outputs;
  for (const auto& [kind, arguments] : requests) {
    if (const auto path = kind->parsedSchema().argumentIndexWithName("path"))
      outputs.push_back({optionName(*kind), arguments[static_cast<size_t>(*path)].toStringRef()});
  }
  return outputs;
}

void checkPatterns(const std::vector<RunOptions::Request>& requests) {
  for (const auto& [kind, arguments] : requests) {
    const auto index = kind->parsedSchema().argumentIndexWithName("pattern");
    if (!index) continue;
    const std::string& pattern = arguments[static_cast<size_t>(*index)].toStringRef();
    if (matchesSomeOperator(pattern)) continue;
    static_cast<void>(cuda::isAvailable());  // asking registers its operators
    if (matchesSomeOperator(pattern)) continue;
    throw CLI::ValidationError(optionName(*kind), fmt::format("no operator is called '{}'.{} `boxcar ops` lists all",
                                                              pattern, nearOperators(pattern)));
  }
}

std::vector<std::unique_ptr<Handler>> makeHandlers(const std::vector<RunOptions::Request>& requests) {
  std::vector<std::unique_ptr<Handler>> handlers;
  for (const auto& [kind, arguments] : requests) handlers.push_back(kind->make(arguments));
  return handlers;
}

}  // namespace boxcar::cli
