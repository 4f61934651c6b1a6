#pragma once

#include <boxcar/dispatcher/registry/explanation.h>

#include <string>

namespace boxcar::cli {

// Returns the text of an explanation with a line below the schema that says what becomes of the [gradient], as
// autograd::describeGradient() has it.
std::string explanationText(const DispatchExplanation& explanation, const std::string& gradient);

}  // namespace boxcar::cli
