#pragma once

#include <boxcar/dispatcher/values/value_difference.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

namespace boxcar::cli {

// Adds --rtol and --atol.
inline void addToleranceOptions(CLI::App& command, const std::shared_ptr<Tolerance>& tolerance) {
  const auto is_distance = [](const std::string& text) {
    double value = 0;
    return CLI::detail::lexical_cast(text, value) && value >= 0 ? std::string()
                                                                : text + " is not a number of 0 or more";
  };
  command
      .add_option("--rtol", tolerance->rtol,
                  "The tolerance for floating point numbers, relative to the expected one (0)")
      ->type_name("X")
      ->check(is_distance);
  command.add_option("--atol", tolerance->atol, "The absolute tolerance, added to the relative one (0)")
      ->type_name("X")
      ->check(is_distance);
}

}  // namespace boxcar::cli
