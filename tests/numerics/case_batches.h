#pragma once

#include <optional>
#include <string>

#include "tests/numerics/case_reader.h"

namespace boxcar::numerics {

// Makes the call of [expected] on batched tensors, of two slices: each tensor alone, and all together. The second slice
// is the tensor flipped. Compares results, written arguments and gradients with those of a call for each slice. Returns
// what is wrong in words; nullopt if nothing is, or if batch_reasons.txt has the operator.
std::optional<std::string> differenceOfBatches(const Case& expected, const OperatorHandle& op);

}  // namespace boxcar::numerics
