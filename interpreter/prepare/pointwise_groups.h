#pragma once

#include <boxcar/interpreter/prepare/rewriter.h>
#include <boxcar/interpreter/prepare/typed_script.h>

#include <vector>

namespace boxcar::interp {

// Returns the changes that make one call of fused::pointwise of each group of pointwise operators, two or more, each of
// which only the next one reads; and one of fused::pointwise_reduce of a group, also of one, and the reduction that
// reads it.
std::vector<Edit> groupPointwise(const TypedScript& script);

}  // namespace boxcar::interp
