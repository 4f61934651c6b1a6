#pragma once

#include <boxcar/backends/cuda/failure.h>
#include <boxcar/ivalue/scalar_type.h>

#include <cstdint>
#include <string_view>

// Searches in what is in order, which nvcc compiles.

namespace boxcar::cuda {

// dense::SearchCall: values in rows of [row] elements, each with its own [count] boundaries, or with the same ones
// where there is one row. Notes indices of the sorter that are out of range, of those that it meets.
struct SearchLaunch {
  std::string_view name;
  const void* boundaries;
  const void* values;
  const int64_t* sorter;  // null where the boundaries are in order
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

// Whether each of [n] elements is among [count] sorted ones, NaN among none; or whether it is not.
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

// The middle element of each row of [length] elements (dense::MedianLines).
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
// Of rows that are sorted; [places] says where the elements were.
void launchMiddle(const MiddleLaunch& launch, const int64_t* places);
// Of any rows of fewer than 2^31 elements, a block for each.
void launchMiddleOfRows(const MiddleLaunch& launch);

}  // namespace boxcar::cuda
