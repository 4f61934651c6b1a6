#pragma once

#include <boxcar/ivalue/macros.h>

#include <cstddef>

namespace boxcar {

// The measured peak performance of the machine's processor.
struct MachineCeilings {
  size_t cores = 0;
  double flops_of_one = 0;  // float32 operations per second of one core; a multiplication and an addition are two
  double flops_of_all = 0;  // of all cores at once
  double bytes_of_one = 0;  // bytes per second that one core reads and writes without help from caches
};

// Measures on the first call, in less than 0.3 seconds. Other load on the machine lowers the values.
BOXCAR_API const MachineCeilings& machineCeilings();

}  // namespace boxcar
