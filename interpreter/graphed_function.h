#pragma once

#include <boxcar/interpreter/executable.h>

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace boxcar::interp {

// What a machine keeps of a function that a graph stands in for.
struct GraphedFunction {
  // The program of the function; where that is gone, so is the function.
  std::weak_ptr<const Executable> program;
  // The constants that it and the functions that it calls read: of which program, and which.
  std::vector<std::pair<const Executable*, uint32_t>> constants;
  // The device's graphs.
  std::shared_ptr<void> kept;
};

// "step" of "fn step", as which code has it.
std::string_view nameOfFunction(std::string_view title) noexcept;

// Looks through [function] and all that it calls. An Error names what a graph would not do again when it is replayed:
// print, read a clock, switch scopes on, set constants.
GraphedFunction readGraphedFunction(const ExecutableFunction& function);

}  // namespace boxcar::interp
