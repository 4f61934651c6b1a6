#pragma once

#include <boxcar/ivalue/scalar_type.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace boxcar::io {

// The limit of NumPy 2; that of NumPy 1 is half as many.
inline constexpr size_t kNpyMostDims = 64;

// The parsed header of a .npy file.
struct NpyHeader {
  ScalarType dtype = ScalarType::Undefined;
  bool is_big_endian = false;
  // The elements of the first dimension are adjacent, instead of those of the last one.
  bool is_fortran_order = false;
  std::vector<int64_t> shape;
  // The position of the first element.
  uint64_t data_begin = 0;
};

// The position of the header's text.
struct NpyHeaderPlace {
  uint64_t begin = 0;
  uint64_t end = 0;
};

// This many bytes of a file are enough to find its header.
inline constexpr size_t kNpyStartBytes = 12;

// Finds the header of a file of [size] bytes that begins with [start]. [what] names the file in errors, in quotes, here
// and below.
NpyHeaderPlace findNpyHeader(std::span<const std::byte> start, uint64_t size, const std::string& what);

// Parses the header at the start of [file]. Throws Error naming the file, the fault and its byte position if the header
// is invalid.
NpyHeader parseNpyHeader(std::span<const std::byte> file, const std::string& what);

// Returns the bytes that precede the elements; their number is a multiple of 64. The dtype of [header] must have a name
// in npyDtype().
std::string formatNpyHeader(const NpyHeader& header);

// Returns the dtype's name, such as "<f4" or "|b1"; "" if NumPy does not support the dtype.
std::string npyDtype(ScalarType dtype);

}  // namespace boxcar::io
