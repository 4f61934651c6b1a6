#pragma once

// The CPU's kernels use the names of these rooms as their own.

namespace boxcar::dense {}
namespace boxcar::elements {}

namespace boxcar::cpu {
using namespace dense;
using namespace elements;
}  // namespace boxcar::cpu
