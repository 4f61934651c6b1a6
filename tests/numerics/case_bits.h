#pragma once

#include <boxcar/dispatcher/registry/operator_handle.h>

#include <optional>
#include <string>

#include "tests/numerics/case_reader.h"

namespace boxcar::numerics {

// Makes the call of [expected] on plain tensors, and on lazy conjugates and negatives that have the same elements.
// Describes how the elements of the results, or of the arguments afterwards, differ; nullopt if they do not. Left out
// are the operators in bits_reasons.txt and those that draw random numbers.
std::optional<std::string> differenceOfBits(const Case& expected, const OperatorHandle& op);

}  // namespace boxcar::numerics
