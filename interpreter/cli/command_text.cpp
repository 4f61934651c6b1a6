#include <boxcar/interpreter/cli/command_text.h>
#include <boxcar/interpreter/syntax/utf8.h>
#include <boxcar/ivalue/dispatch_key.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <ranges>
#include <string_view>

namespace boxcar::cli {
namespace {

size_t widthOf(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(text, [](char byte) { return !utf8::isContinuation(byte); }));
}

// Returns the choices of "COLUMN:{a,b}".
std::vector<std::string> choicesOf(const std::string& type) {
  const size_t open = type.find(":{");
  if (open == std::string::npos || !type.ends_with('}')) return {};
  return CLI::detail::split(type.substr(open + 2, type.size() - open - 3), ',');
}

// Returns the dispatch keys that a value of that name may be.
std::vector<std::string> keysNamed(std::string_view name) {
  const auto is_offered = [name](DispatchKey key) {
    if (name == "KEY") return isRuntimeDispatchKey(key) || isAliasDispatchKey(key);
    return name == "FUNCTIONALITY" && key > DispatchKey::Undefined && key < DispatchKey::EndOfFunctionalityKeys;
  };
  std::vector<std::string> keys;
  for (uint16_t number = 0; number <= static_cast<uint16_t>(DispatchKey::EndOfAliasKeys); ++number) {
    const auto key = static_cast<DispatchKey>(number);
    if (is_offered(key)) keys.emplace_back(toString(key));
  }
  return keys;
}

// Returns the kind for the name of a value or of an argument.
WordKind kindOf(std::string_view name) {
  if (name == "OPERATOR" || name == "OP" || name.starts_with("PATTERN")) return WordKind::Operator;
  if (name == "FILE.ops") return WordKind::Script;
  if (name == "LIB.so") return WordKind::Plugin;
  if (name.starts_with("DIR")) return WordKind::Folder;
  for (const std::string_view word : {"FILE", "OUT", "PATH", "REC", "ARGS"}) {
    if (name.starts_with(word)) return WordKind::File;
  }
  return WordKind::Other;
}

OptionText describe(const CLI::Option& option) {
  OptionText text;
  text.help = option.get_description();
  text.group = option.get_group();
  text.is_argument = option.nonpositional() == false;
  text.is_required = option.get_required();
  const int most_values = option.get_items_expected_max();
  const std::string type = option.get_type_name();
  if (text.is_argument) {
    text.names.push_back(option.get_single_name());
    text.repeats = most_values > 1;
  } else {
    for (const std::string& name : option.get_snames()) text.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) text.names.push_back("--" + name);
    text.value = type.substr(0, type.find(':'));
    text.may_lack_value = most_values == 0 && !text.value.empty();
    text.repeats = most_values > 1 || option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
  }
  // A FILE argument of a command is a script, unless it has a type name.
  const bool is_script = text.is_argument && type.empty() && text.names[0] == "FILE";
  text.kind = is_script ? WordKind::Script
                        : kindOf(text.is_argument && type.empty() ? text.names[0] : type.substr(0, type.find(':')));
  text.choices = choicesOf(type);
  if (!text.choices.empty()) {
    text.kind = WordKind::Choice;
    text.help += fmt::format("; one of {}", fmt::join(text.choices, ", "));
  } else if (auto keys = keysNamed(text.value); !keys.empty()) {
    text.kind = WordKind::Choice;
    text.choices = std::move(keys);
  }
  // The order in which they were excluded has no meaning.
  std::vector<std::string> others;
  for (const CLI::Option* other : option.get_excludes()) others.push_back(other->get_name());
  std::ranges::sort(others);
  if (!others.empty()) text.help += fmt::format("; not with {}", fmt::join(others, ", "));
  return text;
}

}  // namespace

std::string OptionText::spelling() const {
  std::string text = fmt::format("{}", fmt::join(names, ", "));
  if (value.empty()) return text;
  return text + (may_lack_value ? "[=" + value + "]" : " " + value);
}

std::string CommandText::synopsis() const {
  std::string text = options.empty() ? "" : " [OPTIONS]";
  for (const OptionText& option : options) {
    if (option.is_required) text += " " + option.names.back() + " " + option.value;
  }
  for (const OptionText& argument : arguments) {
    const std::string name = argument.names[0] + (argument.repeats ? "..." : "");
    text += argument.is_required ? " " + name : " [" + name + "]";
  }
  return text;
}

std::vector<std::string> CommandText::groups() const {
  std::vector<std::string> groups;
  for (const OptionText& option : options) {
    if (std::ranges::find(groups, option.group) == groups.end()) groups.push_back(option.group);
  }
  return groups;
}

CommandText describe(const CLI::App& app) {
  CommandText text{app.get_name(), app.get_description(), app.get_footer(), {}, {}, {}};
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    // Every command has --help.
    if (app.get_parent() != nullptr && option == app.get_help_ptr()) continue;
    OptionText described = describe(*option);
    (described.is_argument ? text.arguments : text.options).push_back(std::move(described));
  }
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!command->get_group().empty()) text.commands.push_back(describe(*command));
  }
  return text;
}

std::vector<std::string> wrap(const std::string& text, size_t width) {
  std::vector<std::string> lines;
  for (const auto word : std::views::split(std::string_view(text), ' ')) {
    const std::string_view next(word.begin(), word.end());
    if (lines.empty() || widthOf(lines.back()) + 1 + widthOf(next) > width) {
      lines.emplace_back(next);
    } else {
      lines.back().append(" ").append(next);
    }
  }
  return lines;
}

}  // namespace boxcar::cli
