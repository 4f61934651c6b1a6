#include <boxcar/interpreter/cli/command_text.h>
#include <boxcar/interpreter/cli/completion.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string_view>

namespace boxcar::cli {
namespace {

// Returns [text] in single quotes, with a backslash before the characters that end a part of a specification.
std::string quoted(std::string_view text, std::string_view special) {
  std::string out = "'";
  for (const char byte : text) {
    if (special.find(byte) != std::string_view::npos) out += '\\';
    if (byte == '\'') {
      out += "'\\''";
    } else {
      out += byte;
    }
  }
  return out + "'";
}

std::string actionOf(const OptionText& option) {
  switch (option.kind) {
    case WordKind::Script: return "_files -g \"*.ops\"";
    case WordKind::File: return "_files";
    case WordKind::Folder: return "_files -/";
    case WordKind::Plugin: return "_files -g \"*.so\"";
    case WordKind::Operator: return "_boxcar_operators";
    case WordKind::Choice: return fmt::format("({})", fmt::join(option.choices, " "));
    case WordKind::Other: break;
  }
  return " ";
}

// Returns [what] with the characters escaped that would end it.
std::string messageOf(std::string_view what) {
  const std::string text = quoted(what, ":[]\\");
  return text.substr(1, text.size() - 2);
}

std::string specificationsOf(const std::vector<OptionText>& options) {
  std::string text;
  for (const OptionText& option : options) {
    for (const std::string& name : option.names) {
      std::string spec = option.repeats || option.names.size() > 1 ? "'*'" : "";
      spec += name;
      if (!option.value.empty()) spec += option.may_lack_value ? "=-" : name.starts_with("--") ? "=" : "+";
      spec += "'[" + messageOf(option.help) + "]";
      if (!option.value.empty()) {
        const std::string separator = option.may_lack_value ? "::" : ":";
        spec += separator + messageOf(option.value) + ":" + actionOf(option);
      }
      text += " \\\n        " + spec + "'";
    }
  }
  return text;
}

std::string argumentsOf(const std::vector<OptionText>& arguments) {
  std::string text;
  size_t number = 0;
  for (const OptionText& argument : arguments) {
    ++number;
    const std::string place = argument.repeats ? "*" : std::to_string(number);
    // Never mark it as optional: zsh would then offer the next argument in its place, too.
    text += fmt::format(" \\\n        '{}:{}:{}'", place, messageOf(argument.names[0]), actionOf(argument));
  }
  return text;
}

}  // namespace

std::string zshCompletion(const CLI::App& app) {
  const CommandText program = describe(app);
  std::string text =
      "#compdef boxcar\n"
      "# Completes the command lines of boxcar in zsh; made by `boxcar completion zsh`.\n\n"
      "_boxcar_operators() {\n"
      "  local -a operators\n"
      "  operators=(${${(f)\"$($_boxcar_program ops 2>/dev/null)\"}%%\\(*})\n"
      "  compadd -- $operators\n"
      "}\n\n"
      "_boxcar_commands() {\n"
      "  local -a commands=(\n";
  for (const CommandText& command : program.commands) {
    text += "    " + quoted(command.name + ":" + command.help, "") + "\n";
  }
  const std::string global = specificationsOf(program.options);
  text +=
      "  )\n"
      "  _describe command commands\n"
      "}\n\n"
      "_boxcar() {\n"
      "  local context state state_descr line _boxcar_program=$words[1]\n"
      "  typeset -A opt_args\n"
      "  _arguments -C" +
      global +
      " \\\n        '1: :_boxcar_commands' '*:: :->arguments'\n"
      "  [[ $state == arguments ]] || return\n"
      "  case $line[1] in\n";
  for (const CommandText& command : program.commands) {
    text += fmt::format("    {})\n      _arguments{}{}{} ;;\n", command.name, specificationsOf(command.options), global,
                        argumentsOf(command.arguments));
  }
  return text +
         "  esac\n"
         "}\n\n"
         "if [[ $funcstack[1] == _boxcar ]]; then _boxcar \"$@\"; else compdef _boxcar boxcar; fi\n";
}

}  // namespace boxcar::cli
