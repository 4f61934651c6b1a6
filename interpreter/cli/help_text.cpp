#include <boxcar/interpreter/cli/command_text.h>
#include <boxcar/interpreter/cli/help_text.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

namespace boxcar::cli {
namespace {

constexpr size_t kWidth = 80;
constexpr size_t kHelpColumn = 22;
// Their names alone are in the help of the program, which is to fit a screen.
constexpr std::string_view kSeldomUsed[] = {"schema", "dis", "asm", "bench-model", "lsp", "completion"};

// Appends a name and its help: beside the name or, if the name is long, below it.
void append(std::string& text, const std::string& name, const std::string& help) {
  std::string line = "  " + name;
  for (const std::string& part : wrap(help, kWidth - kHelpColumn)) {
    if (line.size() + 1 >= kHelpColumn && !line.empty()) {
      text += line + '\n';
      line.clear();
    }
    text += fmt::format("{:<{}}{}\n", line, kHelpColumn, part);
    line.clear();
  }
  if (!line.empty()) text += line + '\n';
}

// Appends [text] after [first], with further lines indented to where [first] ends.
void appendHanging(std::string& out, const std::string& first, const std::string& text) {
  std::string begin = first;
  for (const std::string& line : wrap(text, kWidth - first.size())) {
    out += begin + line + '\n';
    begin.assign(first.size(), ' ');
  }
}

std::string usageOfProgram(const CommandText& program) {
  std::string usage;
  for (const OptionText& option : program.options) {
    std::string spelling = option.names.back();
    if (option.kind == WordKind::Choice) {
      spelling += fmt::format(" {}", fmt::join(option.choices, "|"));
    } else if (!option.value.empty()) {
      spelling += " " + option.value;
    }
    usage += "[" + spelling + "] ";
  }
  return usage + "COMMAND ...";
}

// The space goes to the commands: the manual page explains the options.
std::string helpOfProgram(const CommandText& program) {
  std::string text = program.help + "\n";
  appendHanging(text, "Usage: boxcar ", usageOfProgram(program));
  text += '\n';
  size_t longest = 0;
  for (const CommandText& command : program.commands) longest = std::max(longest, command.name.size());
  std::vector<std::string> seldom;
  for (const CommandText& command : program.commands) {
    if (std::ranges::find(kSeldomUsed, command.name) != std::end(kSeldomUsed)) {
      seldom.push_back(command.name);
    } else {
      text += fmt::format("  {:<{}}  {}\n", command.name, longest, command.help);
    }
  }
  text += fmt::format("Further commands: {}\n", fmt::join(seldom, ", "));
  return text + program.examples + "\n";
}

std::string helpOfCommand(const CommandText& command) {
  std::string text;
  for (const std::string& line : wrap(command.help + ".", kWidth)) text += line + '\n';
  text += '\n';
  const std::string call = "Usage: boxcar " + command.name;
  appendHanging(text, call, command.synopsis());
  if (!command.arguments.empty()) text += '\n';
  for (const OptionText& argument : command.arguments) append(text, argument.names[0], argument.help);
  for (const std::string& group : command.groups()) {
    text += '\n';
    for (const std::string& line : wrap(group + ":", kWidth)) text += line + '\n';
    for (const OptionText& option : command.options) {
      if (option.group == group) append(text, option.spelling(), option.help);
    }
  }
  text += "\nOptions of every command: boxcar --help.\n";
  if (command.examples.empty()) return text;
  text += "\nExamples:\n";
  for (const std::string& line : CLI::detail::split(command.examples, '\n')) text += "  " + line + '\n';
  return text;
}

}  // namespace

std::string HelpText::make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const {
  const CommandText text = describe(*app);
  return app->get_parent() == nullptr ? helpOfProgram(text) : helpOfCommand(text);
}

}  // namespace boxcar::cli
