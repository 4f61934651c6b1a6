#pragma once

#include <cstdint>
#include <limits>

namespace boxcar {

// The limits of a run. A run that exceeds one fails with a ScriptError that says which.
struct RunLimits {
  // Bytecode instructions, including those of operators and handlers that scripts define.
  uint64_t max_instructions = std::numeric_limits<uint64_t>::max();
  // Nested calls of the script's functions.
  uint32_t max_depth = 10'000;
  // Seconds since the run began; checked between operators, and within those that take long.
  double max_seconds = std::numeric_limits<double>::infinity();

  friend bool operator==(const RunLimits&, const RunLimits&) = default;
};

}  // namespace boxcar
