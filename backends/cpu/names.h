#pragma once

// CPU kernels use the names of these namespaces without qualification.

namespace boxcar::native {}
namespace boxcar::functors {}

namespace boxcar::cpu {
using namespace native;
using namespace functors;
}  // namespace boxcar::cpu
