#pragma once

#include <boxcar/ivalue/error.h>

#include <span>
#include <string_view>

namespace boxcar::composite {

// Throws Error if [output_mask], which says of which three arguments the gradients are wanted, has another length.
inline void checkOutputMask(std::string_view op, std::span<const bool> output_mask) {
  BOXCAR_CHECK(output_mask.size() == 3, "{}: output_mask must be 3 bools, but it has {}", op, output_mask.size());
}

}  // namespace boxcar::composite
