#pragma once

#include <boxcar/backends/cuda/failure.h>

#include <cstddef>
#include <cstdint>

// Selection by masks, which nvcc compiles.

namespace boxcar::cuda {

// launchPlacesOfTrue writes the positions of the true ones among [n] flags to [places], in order, and their number to
// [count]. It needs a workspace of the size that placesOfTrueBytes returns.
size_t placesOfTrueBytes(int64_t n);
void launchPlacesOfTrue(void* workspace, size_t bytes, const bool* flags, int64_t* places, int64_t* count, int64_t n);

// Writes places[i] / below % size to [out] for [n] places: their indices along one dimension.
void launchIndicesAlong(int64_t* out, const int64_t* places, int64_t below, int64_t size, int64_t n);

// Where [mask] is true, writes the element of [source] at the position that [counts] has there, counted from 1.
// [source] has [available] elements; notes a failure if the position is beyond them.
struct FillMaskedLaunch {
  void* out;
  const void* source;
  const bool* mask;
  const int64_t* counts;
  int64_t n;
  int64_t available;
  Failure* failure;
};
void launchFillMasked(const FillMaskedLaunch& launch, size_t itemsize);

}  // namespace boxcar::cuda
