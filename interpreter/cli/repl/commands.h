#pragma once

#include <boxcar/interpreter/session/session.h>

#include <string>
#include <string_view>
#include <vector>

namespace boxcar::cli {

// What the prompt's own commands operate on.
struct Prompt {
  Session& session;
  bool edits;            // whether keys edit the line
  bool is_done = false;  // `:quit`
};

// Returns whether [line] is a command of the prompt, such as `:vars`.
bool isPromptCommand(std::string_view line);

// Runs the command in [line] and prints its output. Throws as a session does; throws Error if there is no such command
// or its argument is wrong.
void runPromptCommand(Prompt& prompt, std::string_view line);

// Returns the names of the commands, such as `:dis`, for completion.
std::vector<std::string> promptCommands();
// Returns the command that an input unknown to the session means, such as `exit()` or `help` from other prompts; "" if
// there is none.
std::string commandMeantBy(const Session& session, std::string_view input);

// Returns a value as the prompt shows it: strings in quotes, everything else as summaryOf() does.
std::string shownResult(const Session::Result& result);

}  // namespace boxcar::cli
