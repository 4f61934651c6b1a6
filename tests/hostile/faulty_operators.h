#pragma once

#include <string>
#include <vector>

#include "tests/hostile/findings.h"

namespace boxcar::hostile {

// The operators of namespace `faulty`, which only run when a pattern names them. Each has one fault of the kinds that
// the driver looks for, and shows it only with hostile arguments.
inline constexpr const char* kFaultyOperators = "faulty::*";

// Returns, in sentences, the faults that the driver missed and the findings where there is no fault.
std::vector<std::string> missedFaults(const Findings& findings);

}  // namespace boxcar::hostile
