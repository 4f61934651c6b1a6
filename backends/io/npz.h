#pragma once

#include <boxcar/ivalue/ivalue.h>

#include <cstddef>
#include <span>
#include <string>

namespace boxcar::io {

// Loads copies of the arrays of the NumPy archive [file], stored or deflated, in archive order. The keys are the names
// of the members without `.npy`. [path] is for errors, which name the file and the member. The sizes that the archive
// states are validated before memory is allocated for them, and checksums are verified.
Dict<std::string, Tensor> loadNpz(std::span<const std::byte> file, const std::string& path);

}  // namespace boxcar::io
