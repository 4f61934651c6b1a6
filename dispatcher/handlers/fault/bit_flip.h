#pragma once

#include <boxcar/ivalue/ivalue.h>
#include <boxcar/ivalue/macros.h>

#include <cstdint>
#include <span>
#include <string>

namespace boxcar {

// Flips one bit of one element of the tensors in [values], on any device, at a place that [random] decides. Returns the
// place, "bit 12 of element 3 of tensor 0", or "" if no tensor has an element in memory. No handler sees the write, and
// it does not increase the tensor's version.
BOXCAR_API std::string flipBit(std::span<const IValue> values, uint64_t random);

}  // namespace boxcar
