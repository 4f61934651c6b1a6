#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

// What the program's own description says of its command line, as help, completion and the manual page need it: none
// of them knows a command or an option by itself.
namespace boxcar::cli {

// What a word of the command line names, so that a shell can complete it. That is told by its name: a script by an
// argument FILE or a value FILE.ops, other files by FILE, OUT…, PATH or REC, a choice by KEY or FUNCTIONALITY (dispatch
// keys, too many for the help) or by what CLI::IsMember adds, and so on. An argument whose name says too
// little has a type_name(), which is not shown.
enum class WordKind { Other, Script, File, Folder, Plugin, Operator, Choice };

struct OptionText {
  std::vector<std::string> names;  // "-o", "--output"; of an argument its name alone
  std::string value;               // "OUT.ops"; "" for a flag
  std::string help;
  std::string group;
  WordKind kind = WordKind::Other;
  std::vector<std::string> choices;
  bool is_argument = false;
  bool is_required = false;
  bool repeats = false;
  bool may_lack_value = false;  // the value stands behind `=` or nowhere

  // "-o, --output OUT.ops".
  std::string spelling() const;
};

struct CommandText {
  std::string name;
  std::string help;
  std::string examples;               // lines
  std::vector<OptionText> arguments;  // in their order
  std::vector<OptionText> options;
  std::vector<CommandText> commands;

  // What stands behind the command's name.
  std::string synopsis() const;
  // The groups of the options, in order of appearance.
  std::vector<std::string> groups() const;
};

// Without what is hidden.
CommandText describe(const CLI::App& app);

// [text] in lines of at most [width] columns, broken at spaces.
std::vector<std::string> wrap(const std::string& text, size_t width);

}  // namespace boxcar::cli
