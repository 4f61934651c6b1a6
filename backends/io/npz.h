#pragma once

#include <boxcar/ivalue/ivalue.h>

#include <cstddef>
#include <span>
#include <string>

namespace boxcar::io {

// The arrays of the NumPy archive [file] by the names of its members without `.npy`, in their order, stored or
// deflated, copied. [path] is for errors: they name the file and the member. What the archive says of sizes is checked
// before memory is taken for it, and checksums are.
Dict<std::string, Tensor> loadNpz(std::span<const std::byte> file, const std::string& path);

}  // namespace boxcar::io
