#pragma once

#include <boxcar/backends/cuda/failure.h>
#include <boxcar/ivalue/scalar_type.h>

#include <cstdint>
#include <string_view>

// Searches in sorted data, which nvcc compiles.

namespace boxcar::cuda {

// native::SearchCall: values in rows of [row] elements. Each row has its own [count] boundaries; if there is only one
// row, all values use the same ones. Notes out-of-range indices in the sorter, but only those that the search reads.
struct SearchLaunch {
  std::string_view name;
  const void* boundaries;
  const void* values;
  const int64_t* sorter;  // null if the boundaries are sorted
  void* out;
  bool out_int32;
  bool right;
  ScalarType type;
  int64_t count;
  int64_t row;
  int64_t n;
  Failure* failure;
};
void launchSearch(const SearchLaunch& launch);

// Whether each of [n] elements is among [count] sorted ones (NaN never is); negated if [invert].
struct FindLaunch {
  const void* elements;
  const void* sorted;
  bool* found;
  ScalarType type;
  int64_t n;
  int64_t count;
  bool invert;
};
void launchFind(const FindLaunch& launch);

// The middle element of each row of [length] elements (native::MedianLines).
struct MiddleLaunch {
  std::string_view name;
  const void* in;
  void* values;
  int64_t* indices;
  ScalarType type;
  int64_t rows;
  int64_t length;
  bool skips_nan;
};
// For sorted rows; [places] holds the elements' original positions.
void launchMiddle(const MiddleLaunch& launch, const int64_t* places);
// For unsorted rows of fewer than 2^31 elements; one block per row.
void launchMiddleOfRows(const MiddleLaunch& launch);

}  // namespace boxcar::cuda
