#pragma once

#include <string>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace boxcar::cli {

// Adds an option whose value names a file that is written.
CLI::Option* addOutputOption(CLI::App& command, const std::string& name, std::string& path, const std::string& help);

// What is wrong with such a name, whatever may lie there; "" where nothing is.
std::string faultOfOutput(const std::string& path);

}  // namespace boxcar::cli
