#pragma once

#include <boxcar/backends/io/zip_archive.h>
#include <boxcar/ivalue/ivalue.h>

#include <string>
#include <string_view>

namespace boxcar::io {

// Loads copies of the arrays of the NumPy [archive], stored or deflated, in archive order. The keys are the names
// of the members without `.npy`. [path] is for errors, which name the file and the member. The sizes that the archive
// states are validated before memory is allocated for them, and checksums are verified.
Dict<std::string, Tensor> loadNpz(const ZipArchive& archive, const std::string& path);

// Writes [tensors], on the CPU, to the NumPy archive [path], in C order and not compressed. The file gets its name only
// once it is complete. Throws Error for what saveNpy() does not write.
void saveNpz(const Dict<std::string, Tensor>& tensors, std::string_view path);

}  // namespace boxcar::io
