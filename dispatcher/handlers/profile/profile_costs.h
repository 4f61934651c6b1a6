#pragma once

#include <boxcar/dispatcher/handlers/profile/profile.h>

#include <optional>

namespace boxcar::detail {

// Measures what a boxed call of an operator that does nothing costs here, on two small tensors, and what profiling adds
// to it. Takes about a millisecond, without the thread's modes. Returns no value while observers or the trace watch
// calls, because the measurement would disturb them.
std::optional<CallCosts> measureCallCosts();

}  // namespace boxcar::detail
