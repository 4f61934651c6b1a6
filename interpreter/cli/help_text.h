#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace boxcar::cli {

// Lays out --help in 80 columns; the program's own help fits on one screen.
class HelpText final : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
};

}  // namespace boxcar::cli
