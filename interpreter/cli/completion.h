#pragma once

#include <string>

namespace CLI {
class App;
}

namespace boxcar::cli {

// Scripts by which a shell completes the program's command lines: its commands and options, and for their values files,
// folders, operators and choices. They come from what [app] says of itself, and ask the program for operators alone.
std::string bashCompletion(const CLI::App& app);
std::string zshCompletion(const CLI::App& app);

}  // namespace boxcar::cli
