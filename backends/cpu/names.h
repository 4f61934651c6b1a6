#pragma once

// CPU kernels use the names of these namespaces without qualification.

namespace boxcar::dense {}
namespace boxcar::elements {}

namespace boxcar::cpu {
using namespace dense;
using namespace elements;
}  // namespace boxcar::cpu
