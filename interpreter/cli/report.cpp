#include <boxcar/interpreter/cli/command.h>
#include <boxcar/interpreter/cli/report.h>
#include <unistd.h>

#include <cstdlib>

namespace boxcar::cli {
namespace {

constinit ColourChoice chosen = ColourChoice::Auto;

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

bool takesColours(int stream) {
  if (chosen != ColourChoice::Auto) return chosen == ColourChoice::Always;
  if (!variable("NO_COLOR").empty()) return false;
  const std::string_view force = variable("CLICOLOR_FORCE");
  if (!force.empty() && force != "0") return true;
  return isCapableTerminal(stream);
}

}  // namespace

void setColourChoice(ColourChoice choice) { chosen = choice; }

bool isCapableTerminal(int stream) {
  const std::string_view terminal = variable("TERM");
  return !terminal.empty() && terminal != "dumb" && ::isatty(stream) == 1;
}

TextColours errorColours() { return takesColours(STDERR_FILENO) ? TextColours::Ansi : TextColours::None; }

void reportDiagnostics(const std::vector<Diagnostic>& diagnostics) {
  printError(toString(diagnostics, errorColours()));
}

void reportError(const CompileError& error) {
  // What was added while the error propagated comes after the diagnostics.
  const size_t own = toString(error.diagnostics()).size();
  printError(toString(error.diagnostics(), errorColours()) + error.message().substr(own));
}

void reportError(const ScriptError& error) { printError(toString(error, errorColours())); }

void reportSentence(std::string_view text) {
  printError(coloured("error:", TextInk::Error, errorColours()).append(" ").append(text).append("\n"));
}

void reportFailure(std::string_view text, std::string_view command) {
  std::string name = "boxcar";
  if (!command.empty()) name.append(" ").append(command);
  printError(coloured(name + ":", TextInk::Error, errorColours()).append(" ").append(text).append("\n"));
}

}  // namespace boxcar::cli
