#pragma once

#include <boxcar/interpreter/runtime/executable.h>

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace boxcar::interp {

// What a machine keeps about a function that a captured graph replaces.
struct GraphedFunction {
  // The function's program; the function ends with it.
  std::weak_ptr<const Executable> program;
  // The constants that the function and its callees read: of which program, and which.
  std::vector<std::pair<const Executable*, uint32_t>> constants;
  // The device's graphs.
  std::shared_ptr<void> kept;
};

// Returns "step" for "fn step", the form of the name in the code.
std::string_view nameOfFunction(std::string_view title) noexcept;

// Scans [function] and everything that it calls. Throws Error if it contains something that a graph replay would not
// repeat: print, reading a clock, opening scopes, setting constants. The message names it.
GraphedFunction readGraphedFunction(const ExecutableFunction& function);

}  // namespace boxcar::interp
