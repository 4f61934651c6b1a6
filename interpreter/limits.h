#pragma once

#include <cstdint>
#include <limits>

namespace boxcar {

// How far a run may go. One that goes further fails with a ScriptError that says which limit it met.
struct RunLimits {
  // Bytecode instructions, those of the operators and handlers that scripts define included.
  uint64_t max_instructions = std::numeric_limits<uint64_t>::max();
  // Calls of the script's functions inside one another.
  uint32_t max_depth = 10'000;
  // Seconds from its beginning on: looked at between operators, and within those that take long.
  double max_seconds = std::numeric_limits<double>::infinity();

  friend bool operator==(const RunLimits&, const RunLimits&) = default;
};

}  // namespace boxcar
