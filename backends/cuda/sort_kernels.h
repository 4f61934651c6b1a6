#pragma once

#include <boxcar/ivalue/scalar_type.h>

#include <cstddef>
#include <cstdint>

// Sorting, which nvcc compiles. A block sorts a row that fits into shared memory with its own network; CUB sorts longer
// rows, or a selection is used if only the beginning of a row is wanted.

namespace boxcar::cuda {

// The longest row that a single block sorts.
inline constexpr int64_t kShortRow = 2048;

// Rows of [length] elements, stored one after another. Writes the first [kept] of each sorted row to rows of that
// length.
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

// For rows of at most kShortRow elements.
void launchShortSort(const SortLaunch& launch);
// For any other rows; the workspace needs the size that longSortBytes returns.
size_t longSortBytes(const SortLaunch& launch);
void launchLongSort(const SortLaunch& launch, void* workspace);

// The longest part of a row that launchChooseRows finds and sorts. Rows must have fewer than 2^31 elements. Each row
// takes one block, so only many rows keep a device busy.
inline constexpr int64_t kMostChosen = 1024;
inline constexpr int64_t kManyRows = 32;
void launchChooseRows(const SortLaunch& launch);

}  // namespace boxcar::cuda
