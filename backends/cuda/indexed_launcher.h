#pragma once

#include <boxcar/backends/cuda/failure.h>
#include <boxcar/backends/cuda/strided_layout.h>
#include <boxcar/backends/functors/combination.h>
#include <boxcar/ivalue/scalar.h>
#include <boxcar/ivalue/scalar_type.h>

#include <cstddef>
#include <cstdint>

// The interface between operators that select elements by indices and their kernels, which nvcc compiles.

namespace boxcar::cuda {

// native::IndexedLoop with its dimensions in [layout], which has the operands beside, chosen and index, in this order.
struct IndexedLaunch {
  char* beside;
  char* chosen;
  const char* index;
  const StridedLayout* layout;
  int64_t step;
  int64_t size;
  bool wraps;
  Failure* failure;
};

void launchReadChosen(const IndexedLaunch& launch, size_t itemsize);
void launchWriteChosen(const IndexedLaunch& launch, size_t itemsize);
void launchCombineChosen(const IndexedLaunch& launch, ScalarType type, functors::Combination how, const Scalar& scale);
// Adds the indices' offsets to the offsets in [beside]. [layout] has [beside] and the indices; [chosen] is unused.
void launchAddOffsets(const IndexedLaunch& launch);
// Only notes an index that is out of range.
void launchCheckChosen(const IndexedLaunch& launch);

}  // namespace boxcar::cuda
