#pragma once

#include <string>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace boxcar::cli {

// Adds an option whose value names an output file.
CLI::Option* addOutputOption(CLI::App& command, const std::string& name, std::string& path, const std::string& help);

// Returns what is wrong with such a name, whatever is stored there; "" if nothing is.
std::string faultOfOutput(const std::string& path);

}  // namespace boxcar::cli
