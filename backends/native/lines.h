#pragma once

#include <boxcar/ivalue/tensor.h>

#include <cstddef>
#include <cstdint>

namespace boxcar::native {

// Contiguous elements seen as [outer, length, inner]; the operator works along the middle.
struct Lines {
  int64_t outer = 1;
  int64_t length = 1;
  int64_t inner = 1;

  Lines(const Tensor& self, size_t along) {
    for (size_t i = 0; i < self.sizes().size(); ++i) {
      int64_t& part = i < along ? outer : i == along ? length : inner;
      part *= self.sizes()[i];
    }
  }
};

}  // namespace boxcar::native
