#pragma once

#include <boxcar/interpreter/runtime/script_error.h>
#include <boxcar/interpreter/syntax/diagnostic.h>

#include <cstdint>
#include <string_view>
#include <vector>

// What is wrong, on stderr: the one place that knows whether its reader sees colours.
namespace boxcar::cli {

enum class ColourChoice : uint8_t { Auto, Always, Never };

// What --color says; Auto until then.
void setColourChoice(ColourChoice choice);

// Whether [stream], a file descriptor, is a terminal that knows more than to print: TERM is set, and not "dumb".
bool isCapableTerminal(int stream);

// What stderr takes. Where nothing was chosen: colours on a terminal that is not dumb, unless NO_COLOR is set; with
// CLICOLOR_FORCE also where there is no terminal.
TextColours errorColours();

void reportDiagnostics(const std::vector<Diagnostic>& diagnostics);
void reportError(const CompileError& error);
void reportError(const ScriptError& error);
// "error: text", where a program goes on; [text] ends without a newline.
void reportSentence(std::string_view text);
// "boxcar: text", or "boxcar COMMAND: text"; [text] ends without a newline.
void reportFailure(std::string_view text, std::string_view command = {});

}  // namespace boxcar::cli
