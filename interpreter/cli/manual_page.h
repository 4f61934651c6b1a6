#pragma once

#include <string>

namespace CLI {
class App;
}

namespace boxcar::cli {

// Returns boxcar(1) in the language of man: everything that [app] says about its commands and options, and what they
// have in common.
std::string manualPage(const CLI::App& app);

}  // namespace boxcar::cli
