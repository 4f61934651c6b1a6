#pragma once

#include <boxcar/backends/io/npy_header.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace boxcar::io {

// Of elements next to each other along the first dimension, then along the second …
std::vector<int64_t> fortranStrides(std::span<const int64_t> sizes);

// The strides of the array that [header] describes.
std::vector<int64_t> npyStrides(const NpyHeader& header);

// An Error unless the array that [header] describes has as many bytes as follow it. [what] names the file, with quotes
// around it.
void checkNpyLength(const NpyHeader& header, uint64_t bytes_that_follow, const std::string& what);

// Makes the elements those of a tensor: little-endian ones. An Error for a bool that is neither 0 nor 1.
void convertNpyElements(const NpyHeader& header, std::span<std::byte> elements, const std::string& what);

}  // namespace boxcar::io
