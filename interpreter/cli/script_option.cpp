#include <boxcar/interpreter/cli/script_option.h>
#include <boxcar/ivalue/output_file.h>

#include <CLI/CLI.hpp>

namespace boxcar::cli {

void addScriptOption(CLI::App& command, std::string& file) {
  command
      .add_option("--script", file,
                  "A script whose `op`s are defined; its statements, `impl` and `fallback` included, do not run")
      ->type_name("FILE.ops");
}

std::optional<Program> declareScript(const std::string& file) {
  if (file.empty()) return std::nullopt;
  protectFile(file);
  return Program::load(file);
}

}  // namespace boxcar::cli
