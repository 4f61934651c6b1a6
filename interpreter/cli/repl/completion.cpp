#include <boxcar/dispatcher/handlers/handler_kinds.h>
#include <boxcar/interpreter/cli/repl/commands.h>
#include <boxcar/interpreter/cli/repl/completion.h>
#include <boxcar/interpreter/service/completion.h>
#include <boxcar/interpreter/service/files.h>
#include <boxcar/ivalue/dict_object.h>
#include <boxcar/ivalue/python_text.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace boxcar::cli {
namespace {

std::vector<std::string> thoseThatBegin(std::vector<std::string> words, std::string_view word) {
  std::erase_if(words, [word](const std::string& candidate) { return !candidate.starts_with(word); });
  return words;
}

// Returns whether the arguments of [command] are not written in the language; sets [words] to what the first one may
// be.
bool hasWords(std::string_view command, const Session& session, std::vector<std::string>& words) {
  if (command == ":mode") {
    words = session.modes();
    for (const HandlerKind* kind : handlerKinds()) words.emplace_back(kind->name());
    words.emplace_back("off");
    return true;
  }
  if (command == ":help") {
    for (const std::string& name : promptCommands()) words.push_back(name.substr(1));
    return true;
  }
  return command == ":vars" || command == ":reset" || command == ":quit";
}

// Returns a dict's keys that can be written between quotes as they are.
std::vector<std::string> keysOf(const IValue& value) {
  std::vector<std::string> keys;
  if (!value.isGenericDict()) return keys;
  const auto dict = value.toGenericDict().object();
  for (size_t i = 0; i < dict->size(); ++i) {
    const IValue& key = dict->keyAt(i);
    if (!key.isString()) continue;
    const std::string& text = key.toStringRef();
    if (pythonStringRepr(text) == fmt::format("'{}'", text) && text.find('"') == std::string::npos)
      keys.push_back(text);
  }
  return keys;
}

}  // namespace

std::vector<std::string> completionsAtPrompt(const Session& session, std::string_view before, std::string_view line,
                                             size_t at, size_t& begin) {
  // What follows the name of a command is in the language, too.
  size_t skipped = 0;
  if (before.empty() && isPromptCommand(line)) {
    const size_t colon = line.find(':');
    skipped = std::min(line.find_first_of(" \t", colon), line.size());
    if (at <= skipped) {
      begin = std::min(colon, at);
      return thoseThatBegin(promptCommands(), line.substr(begin, at - begin));
    }
    if (line.substr(colon, skipped - colon) == ":load") {
      const size_t path = std::min(line.find_first_not_of(" \t", skipped), at);
      const std::string_view written = line.substr(path, at - path);
      begin = path + service::lastPart(written);
      static constexpr std::string_view kScripts[] = {".ops"};
      return service::filesThatBegin(written, {}, kScripts);
    }
    std::vector<std::string> words;
    if (hasWords(line.substr(colon, skipped - colon), session, words)) {
      begin = std::min(line.find_first_not_of(" \t", skipped), at);
      const std::string_view word = line.substr(begin, at - begin);
      return word.find_first_of(" \t") == std::string_view::npos ? thoseThatBegin(std::move(words), word)
                                                                 : std::vector<std::string>();
    }
  }
  std::vector<service::KnownVariable> known;
  for (const Session::Variable& variable : session.variables()) {
    const bool is_indexed = line.find(variable.name + "[") != std::string_view::npos;
    known.push_back({variable.name, std::string(toString(*variable.type)),
                     is_indexed ? keysOf(variable.value) : std::vector<std::string>()});
  }
  const std::string text = session.declarations() + std::string(before);
  const std::string_view rest = line.substr(skipped);
  const auto offset = static_cast<uint32_t>(text.size() + at - skipped);
  const service::CompletionList list = service::complete(text + std::string(rest), offset, known);
  // If no word begins in this line, it begins at the cursor.
  begin = list.replaced.begin < text.size() ? at : list.replaced.begin - text.size() + skipped;
  std::vector<std::string> words;
  for (const service::Completion& item : list.items) {
    if (std::ranges::find(words, item.text) == words.end()) words.push_back(item.text);
  }
  return words;
}

}  // namespace boxcar::cli
