#include <boxcar/interpreter/cli/output_option.h>

#include <CLI/CLI.hpp>

namespace boxcar::cli {

CLI::Option* addOutputOption(CLI::App& command, const std::string& name, std::string& path, const std::string& help) {
  return command.add_option(name, path, help)->check(CLI::Validator(faultOfOutput, ""));
}

std::string faultOfOutput(const std::string& path) {
  if (path.empty()) return "an empty path names no file";
  // Elsewhere `-` means standard output: a file of that name would surprise users who mean that.
  if (path == "-") return "this needs a file, not standard output: name one, or ./- for a file called -";
  return {};
}

}  // namespace boxcar::cli
