#pragma once

#include <boxcar/dispatcher/registry/operator_handle.h>

#include <optional>
#include <string>

#include "tests/numerics/case_reader.h"

namespace boxcar::numerics {

// Makes the call of [expected] on real tensors and on fake ones. Describes how sizes, dtypes, devices, strides or the
// sharing of memory differ; nullopt if they do not. Calls that need elements must be refused by the operators that
// fake_reasons.txt lists, or whose tags say so, and by no other.
std::optional<std::string> fakeDifference(const Case& expected, const OperatorHandle& op);

}  // namespace boxcar::numerics
