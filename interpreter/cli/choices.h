#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace boxcar::cli {

// Checks that a value is one of [choices]. Unlike CLI::IsMember, its Error is a sentence; like it, it adds {a,b} to the
// option's type, from which help and completion are made (command_text.h).
CLI::Validator oneOf(std::vector<std::string> choices);

template <class T>
CLI::Validator oneOf(const std::map<std::string, T>& choices) {
  std::vector<std::string> names;
  for (const auto& choice : choices) names.push_back(choice.first);
  return oneOf(std::move(names));
}

}  // namespace boxcar::cli
