#pragma once

#include <string>

namespace CLI {
class App;
}

namespace boxcar::cli {

// Return scripts with which a shell completes the program's command lines: commands and options, and for option values
// files, folders, operators and choices. They are generated from [app]'s description and ask the program only for
// operators.
std::string bashCompletion(const CLI::App& app);
std::string zshCompletion(const CLI::App& app);

}  // namespace boxcar::cli
