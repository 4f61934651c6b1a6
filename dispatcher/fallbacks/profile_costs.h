#pragma once

#include <boxcar/dispatcher/fallbacks/profile.h>

#include <optional>

namespace boxcar::detail {

// What a boxed call of an operator that does nothing costs here, on two small tensors, and what profiling adds to it:
// measured, in about a millisecond, without the thread's modes. Nothing while observers or the trace watch calls, whom
// it would disturb.
std::optional<CallCosts> measureCallCosts();

}  // namespace boxcar::detail
