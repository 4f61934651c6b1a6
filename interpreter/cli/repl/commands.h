#pragma once

#include <boxcar/interpreter/session/session.h>

#include <string>
#include <string_view>
#include <vector>

namespace boxcar::cli {

// What the prompt's own commands work on.
struct Prompt {
  Session& session;
  bool edits;            // whether keys edit the line
  bool is_done = false;  // `:quit`
};

// Whether [line] is a command of the prompt: `:vars`.
bool isPromptCommand(std::string_view line);

// Does what the command in [line] asks for, and prints what it tells. Throws as a session does, and Error where there
// is no such command, or its argument is wrong.
void runPromptCommand(Prompt& prompt, std::string_view line);

// The names of the commands, `:dis`, for completion.
std::vector<std::string> promptCommands();
// Which of them is meant by an input that the session does not know, `exit()` or `help` as at other prompts; "" where
// none is.
std::string commandMeantBy(const Session& session, std::string_view input);

// A value as the prompt shows it: strings in quotes, everything else as summaryOf() does.
std::string shownResult(const Session::Result& result);

}  // namespace boxcar::cli
