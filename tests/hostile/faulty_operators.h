#pragma once

#include <string>
#include <vector>

#include "tests/hostile/findings.h"

namespace boxcar::hostile {

// The operators of namespace `faulty`, which are left out where nobody names them: each has one fault of those that the
// driver is for, and shows it only where its arguments are hostile.
inline constexpr const char* kFaultyOperators = "faulty::*";

// What the driver did not find of these, or found where there is nothing, in sentences.
std::vector<std::string> missedFaults(const Findings& findings);

}  // namespace boxcar::hostile
