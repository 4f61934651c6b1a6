#pragma once

#include <boxcar/backends/io/mapped_file.h>
#include <boxcar/ivalue/ivalue.h>
#include <boxcar/ivalue/macros.h>

#include <string>
#include <string_view>

namespace boxcar::io {

// The tensors of the safetensors file [path], by name, in the order of its header. They lie in the mapped file, without
// a copy where their place suits their dtype; writing to them never changes the file. Relative paths start from the
// script's folder (file_access.h). Every fault of the file is an Error that names it.
Dict<std::string, Tensor> loadSafetensors(std::string_view path);

// The same of a file that is mapped already; [path] is for errors.
Dict<std::string, Tensor> loadSafetensors(const IntrusivePtr<MappedFile>& file, const std::string& path);

// The texts that the safetensors file [path] has beside its tensors, by key; empty where it has none.
BOXCAR_API Dict<std::string, std::string> loadSafetensorsMetadata(std::string_view path);

// Writes [tensors] to the safetensors file [path], which has its name only once it is whole. The header keeps the order
// of the dict; the data lies with the widest elements first, so that everything is aligned when it is loaded.
void saveSafetensors(const Dict<std::string, Tensor>& tensors, std::string_view path);

}  // namespace boxcar::io
