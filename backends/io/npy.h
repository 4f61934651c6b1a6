#pragma once

#include <boxcar/ivalue/tensor.h>

#include <string_view>

namespace boxcar::io {

// The array of the NumPy file [path], in format 1.0, 2.0 or 3.0. Its elements lie in the mapped file, without a copy
// where their place suits their dtype and they are little-endian; writing to them never changes the file. An array in
// Fortran's order has such strides. Relative paths start from the script's folder (file_access.h). Every fault of the
// file is an Error that names it, what is wrong and at which byte, and so is a dtype that boxcar does not have.
Tensor loadNpy(std::string_view path);

// Writes [tensor], on the CPU, to the NumPy file [path] in format 1.0, which has its name only once it is whole. A
// tensor whose transpose is contiguous is written in Fortran's order, any other one in C's. An Error for bfloat16,
// which NumPy does not have, and for more than 64 dimensions.
void saveNpy(const Tensor& tensor, std::string_view path);

}  // namespace boxcar::io
