#pragma once

#include <boxcar/ivalue/macros.h>

#include <cstddef>

namespace boxcar {

// What the machine's processor can do at best, as measured.
struct MachineCeilings {
  size_t cores = 0;
  double flops_of_one = 0;  // float32 operations a second of one core; a product and a sum are two
  double flops_of_all = 0;  // of all cores at once
  double bytes_of_one = 0;  // bytes a second that one core reads and writes where no cache helps
};

// Measures them when it is first called, in less than 0.3 seconds. What else runs on the machine lowers them.
BOXCAR_API const MachineCeilings& machineCeilings();

}  // namespace boxcar
