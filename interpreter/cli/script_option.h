#pragma once

#include <boxcar/interpreter/session/program.h>

#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace boxcar::cli {

// Adds `--script FILE` to a command that asks about operators, which may be defined by a script.
void addScriptOption(CLI::App& command, std::string& file);

// Declares the operators of [file] with their bodies, for as long as the returned program lives; what only a run would
// register is missing. Returns nullopt if [file] is empty. Throws CompileError if the script is wrong, Error if it
// cannot be read.
std::optional<Program> declareScript(const std::string& file);

}  // namespace boxcar::cli
