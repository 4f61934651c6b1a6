#pragma once

#include <string>

namespace CLI {
class App;
}

namespace boxcar::cli {

// boxcar(1), in the language of man: all that [app] says of its commands and options, and what is common to them.
std::string manualPage(const CLI::App& app);

}  // namespace boxcar::cli
