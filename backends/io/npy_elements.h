#pragma once

#include <boxcar/backends/io/npy_header.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace boxcar::io {

// Returns strides for elements that are adjacent along the first dimension, then along the second …
std::vector<int64_t> fortranStrides(std::span<const int64_t> sizes);

// Returns the strides of the array that [header] describes.
std::vector<int64_t> npyStrides(const NpyHeader& header);

// Throws Error unless the array that [header] describes has as many bytes as follow the header. [what] names the file,
// in quotes.
void checkNpyLength(const NpyHeader& header, uint64_t bytes_that_follow, const std::string& what);

// Converts the elements to those of a tensor: little-endian ones. Throws Error if a bool is neither 0 nor 1.
void convertNpyElements(const NpyHeader& header, std::span<std::byte> elements, const std::string& what);

}  // namespace boxcar::io
