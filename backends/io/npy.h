#pragma once

#include <boxcar/backends/io/npy_header.h>
#include <boxcar/ivalue/tensor.h>

#include <string>
#include <string_view>

namespace boxcar::io {

// Loads the array of the NumPy file [path], in format 1.0, 2.0 or 3.0. Its elements stay in the mapped file, without a
// copy, if they are aligned for their dtype and little-endian; writing to them never changes the file. An array in
// Fortran order gets the matching strides. Relative paths start from the script's folder (file_access.h). Throws Error
// naming the file, the fault and its byte position if the file is invalid or has a dtype that boxcar does not support.
Tensor loadNpy(std::string_view path);

// Returns the header for [tensor]; throws Error, which names the file [path], if the tensor cannot be written.
NpyHeader npyHeaderOf(const Tensor& tensor, const std::string& path);

// Writes [tensor], on the CPU, to the NumPy file [path] in format 1.0. The file gets its name only once it is complete.
// A tensor whose transpose is contiguous is written in Fortran order, any other one in C order. Throws Error for
// bfloat16, which NumPy does not support, and for more than 64 dimensions.
void saveNpy(const Tensor& tensor, std::string_view path);

}  // namespace boxcar::io
