#pragma once

#include <boxcar/backends/io/mapped_file.h>
#include <boxcar/ivalue/ivalue.h>

#include <cstddef>
#include <span>
#include <string>

namespace boxcar::io {

// Whether [file] begins like a GGUF file, as llama.cpp reads.
bool isGguf(std::span<const std::byte> file) noexcept;

// Loads the tensors of a GGUF file of version 2 or 3, by name, in the order of the file; their sizes are in PyTorch's
// order, the reverse of the file's. They stay in the mapped file. Quantised tensors are an Error. [path] is for errors.
Dict<std::string, Tensor> loadGguf(const IntrusivePtr<MappedFile>& file, const std::string& path);

}  // namespace boxcar::io
