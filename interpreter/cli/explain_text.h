#pragma once

#include <boxcar/dispatcher/registry/explanation.h>

#include <string>

namespace boxcar::cli {

// Returns the text of an explanation with lines below the schema that say what becomes of the [gradient], as
// autograd::describeGradient() has it, and what autocast does, as autocast::describeCast() has it; empty for nothing.
std::string explanationText(const DispatchExplanation& explanation, const std::string& gradient,
                            const std::string& casts);

}  // namespace boxcar::cli
