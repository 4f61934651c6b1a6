#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>
#include <type_traits>

namespace boxcar::cli {

// Checks that a value is a number from [least] to [most]. Unlike CLI::Range, it says what the value should be, adds
// nothing to the help, and rejects NaN.
template <class T>
CLI::Validator numbersFrom(T least, T most) {
  const auto fault = [least, most](const std::string& text) {
    T value{};
    if (CLI::detail::lexical_cast(text, value) && value >= least && value <= most) return std::string();
    return fmt::format("it must be a {} from {} to {}, not '{}'", std::is_integral_v<T> ? "whole number" : "number",
                       least, most, text);
  };
  return {fault, ""};
}

}  // namespace boxcar::cli
