#include <boxcar/interpreter/cli/repl_commands.h>
#include <boxcar/interpreter/cli/repl_completion.h>
#include <boxcar/interpreter/service/completion.h>

#include <algorithm>
#include <utility>

namespace boxcar::cli {
namespace {

std::vector<std::string> commandsThatBegin(std::string_view word) {
  std::vector<std::string> commands = promptCommands();
  std::erase_if(commands, [word](const std::string& command) { return !command.starts_with(word); });
  return commands;
}

}  // namespace

std::vector<std::string> completionsAtPrompt(const Session& session, std::string_view before, std::string_view line,
                                             size_t at, size_t& begin) {
  // What stands behind the name of a command is in the language, too.
  size_t skipped = 0;
  if (before.empty() && isPromptCommand(line)) {
    skipped = std::min(line.find_first_of(" \t"), line.size());
    if (at <= skipped) {
      begin = line.find(':');
      return commandsThatBegin(line.substr(begin, at - begin));
    }
  }
  std::vector<service::KnownVariable> known;
  for (const Session::Variable& variable : session.variables())
    known.push_back({variable.name, std::string(toString(*variable.type))});
  const std::string text = session.declarations() + std::string(before);
  const std::string_view rest = line.substr(skipped);
  const auto offset = static_cast<uint32_t>(text.size() + at - skipped);
  const service::CompletionList list = service::complete(text + std::string(rest), offset, known);
  // Where a word is not written in this line it begins here.
  begin = list.replaced.begin < text.size() ? at : list.replaced.begin - text.size() + skipped;
  std::vector<std::string> words;
  for (const service::Completion& item : list.items) {
    if (std::ranges::find(words, item.text) == words.end()) words.push_back(item.text);
  }
  return words;
}

}  // namespace boxcar::cli
