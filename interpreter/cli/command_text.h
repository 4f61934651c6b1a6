#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

// What CLI11's description of the program says about its command line, for help, completion and the manual page: none
// of them hard-codes a command or an option.
namespace boxcar::cli {

// What a word of the command line names, so that a shell can complete it. The word's name tells: an argument FILE or a
// value FILE.ops is a script; FILE, OUT…, PATH or REC are other files; KEY or FUNCTIONALITY (dispatch keys, too many
// for the help) and what oneOf() adds are choices; and so on. An argument whose name says too little has a
// type_name(), which is not shown.
enum class WordKind { Other, Script, File, Folder, Plugin, Operator, Choice };

struct OptionText {
  std::vector<std::string> names;  // "-o", "--output"; for an argument only its name
  std::string value;               // "OUT.ops"; "" for a flag
  std::string help;
  std::string group;
  WordKind kind = WordKind::Other;
  std::vector<std::string> choices;
  bool is_argument = false;
  bool is_required = false;
  bool repeats = false;
  bool may_lack_value = false;  // the value follows `=` or is missing

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

  // Returns what follows the command's name.
  std::string synopsis() const;
  // Returns the groups of the options, in order of appearance.
  std::vector<std::string> groups() const;
};

// Returns the description without hidden commands and options.
CommandText describe(const CLI::App& app);

// Returns [text] in lines of at most [width] columns, broken at spaces.
std::vector<std::string> wrap(const std::string& text, size_t width);

}  // namespace boxcar::cli
