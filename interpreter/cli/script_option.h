#pragma once

#include <boxcar/interpreter/session/program.h>

#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace boxcar::cli {

// Adds `--script FILE` to a command that asks about operators, which may be a script's.
void addScriptOption(CLI::App& command, std::string& file);

// Declares the operators of [file] with their bodies, for as long as what it returns lives; what only its run would
// register is not there. Nothing where [file] is empty. CompileError where the script is wrong, an Error where it
// cannot be read.
std::optional<Program> declareScript(const std::string& file);

}  // namespace boxcar::cli
