#pragma once

#include <boxcar/ivalue/scalar_type.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace boxcar::io {

// As many as NumPy 2 has; NumPy 1 has half as many.
inline constexpr size_t kNpyMostDims = 64;

// What stands before the elements of a .npy file.
struct NpyHeader {
  ScalarType dtype = ScalarType::Undefined;
  bool is_big_endian = false;
  // The first dimension's elements lie next to each other, instead of the last one's.
  bool is_fortran_order = false;
  std::vector<int64_t> shape;
  // Where the elements begin.
  uint64_t data_begin = 0;
};

// Where the header's text stands.
struct NpyHeaderPlace {
  uint64_t begin = 0;
  uint64_t end = 0;
};

// So many bytes of a file are enough to find its header.
inline constexpr size_t kNpyStartBytes = 12;

// Finds the header of a file of [size] bytes that begins with [start]. [what] names the file in errors, with quotes
// around it, as below.
NpyHeaderPlace findNpyHeader(std::span<const std::byte> start, uint64_t size, const std::string& what);

// Reads the header at the start of [file]. Errors name it, what is wrong and at which byte.
NpyHeader parseNpyHeader(std::span<const std::byte> file, const std::string& what);

// The bytes that stand before the elements; a multiple of 64. [header]'s dtype has a name in npyDtype().
std::string formatNpyHeader(const NpyHeader& header);

// "<f4", "|b1"; "" for a dtype that NumPy does not have.
std::string npyDtype(ScalarType dtype);

}  // namespace boxcar::io
