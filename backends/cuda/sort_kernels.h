#pragma once

#include <boxcar/ivalue/scalar_type.h>

#include <cstddef>
#include <cstdint>

// Sorting, which nvcc compiles: rows that fit into shared memory by a block's own network, longer
// ones by CUB, or by selection where only their beginning is wanted.

namespace boxcar::cuda {

// The longest row that a block sorts by itself.
inline constexpr int64_t kShortRow = 2048;

// Rows of [length] elements, one after the other. The first [kept] of each in order are written to rows of that many.
struct SortLaunch {
  const void* in;
  void* values;
  int64_t* indices;
  ScalarType type;
  int64_t rows;
  int64_t length;
  int64_t kept;
  bool descending;
};

// Rows of at most kShortRow elements.
void launchShortSort(const SortLaunch& launch);
// Any others, with as many bytes of memory as this says.
size_t longSortBytes(const SortLaunch& launch);
void launchLongSort(const SortLaunch& launch, void* workspace);

// The longest part of a row that launchChooseRows finds and sorts; rows have fewer than 2^31 elements, and are a
// block's each, so that it takes some to keep a device busy.
inline constexpr int64_t kMostChosen = 1024;
inline constexpr int64_t kManyRows = 32;
void launchChooseRows(const SortLaunch& launch);

}  // namespace boxcar::cuda
