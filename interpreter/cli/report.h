#pragma once

#include <boxcar/interpreter/runtime/script_error.h>
#include <boxcar/interpreter/syntax/diagnostic.h>

#include <cstdint>
#include <string_view>
#include <vector>

// Reports errors on stderr. Only this file knows whether the reader sees colours.
namespace boxcar::cli {

enum class ColourChoice : uint8_t { Auto, Always, Never };

// Sets what --color says; Auto until then.
void setColourChoice(ColourChoice choice);

// Returns whether [stream], a file descriptor, is a terminal that can do more than print: TERM is set and not "dumb".
bool isCapableTerminal(int stream);

// Returns the colours for stderr. With Auto: colours on a terminal that is not dumb, unless NO_COLOR is set; with
// CLICOLOR_FORCE also without a terminal.
TextColours errorColours();

void reportDiagnostics(const std::vector<Diagnostic>& diagnostics);
void reportError(const CompileError& error);
void reportError(const ScriptError& error);
// Prints "error: text" when a program goes on; [text] ends without a newline.
void reportSentence(std::string_view text);
// Prints "boxcar: text", or "boxcar COMMAND: text"; [text] ends without a newline.
void reportFailure(std::string_view text, std::string_view command = {});

}  // namespace boxcar::cli
