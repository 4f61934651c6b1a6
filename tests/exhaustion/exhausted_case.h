#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace boxcar::exhaustion {

// An action that allocates memory and does the same each time.
struct ExhaustedCase {
  std::string name;
  // The action. It may throw Error or std::bad_alloc if memory is short, and neither otherwise.
  std::function<void()> body;
  // Returns what is wrong afterwards, whether or not the body ended normally; nullopt if all is right.
  std::function<std::optional<std::string>(bool ended)> check = [](bool) { return std::nullopt; };
};

// Each case is made just before it runs and destroyed before the next one.
using CaseMaker = std::function<ExhaustedCase()>;
inline CaseMaker always(ExhaustedCase exhausted) {
  return [exhausted = std::move(exhausted)] { return exhausted; };
}

// Silences the standard streams; from now on, only say() prints.
void quietStandardStreams();

// Prints to the original stderr.
void say(const std::string& line);

// Runs the case for each n while the n-th request for memory fails, and again while that and all later ones fail, until
// no request failed. After each run, one with all memory must succeed. A failed body must leave nothing behind. Prints
// what is wrong; returns whether nothing was.
bool passes(const ExhaustedCase& exhausted);

}  // namespace boxcar::exhaustion
