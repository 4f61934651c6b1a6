#pragma once

#include <boxcar/backends/io/mapped_file.h>
#include <boxcar/ivalue/ivalue.h>
#include <boxcar/ivalue/macros.h>

#include <string>
#include <string_view>

namespace boxcar::io {

// Loads the tensors of the safetensors file [path], by name, in header order. They stay in the mapped file, without a
// copy, if they are aligned for their dtype; writing to them never changes the file. Relative paths start from the
// script's folder (file_access.h). Throws Error naming the file if it is invalid.
Dict<std::string, Tensor> loadSafetensors(std::string_view path);

// Does the same for a file that is already mapped; [path] is for errors.
Dict<std::string, Tensor> loadSafetensors(const IntrusivePtr<MappedFile>& file, const std::string& path);

// Returns the metadata strings of the safetensors file [path], by key; empty if it has none.
BOXCAR_API Dict<std::string, std::string> loadSafetensorsMetadata(std::string_view path);

// Writes [tensors] to the safetensors file [path], which gets its name only once it is complete. The header keeps the
// order of the dict; the data is sorted by element size, largest first, so that everything is aligned when it is
// loaded.
void saveSafetensors(const Dict<std::string, Tensor>& tensors, std::string_view path);

}  // namespace boxcar::io
