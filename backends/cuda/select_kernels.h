#pragma once

#include <boxcar/backends/cuda/failure.h>

#include <cstddef>
#include <cstdint>

// What is done where a mask is true, which nvcc compiles.

namespace boxcar::cuda {

// Writes the places of those of [n] flags that are true to [places], in order, and how many there are to [count]; with
// as many bytes of memory as this says.
size_t placesOfTrueBytes(int64_t n);
void launchPlacesOfTrue(void* workspace, size_t bytes, const bool* flags, int64_t* places, int64_t* count, int64_t n);

// Writes places[i] / below % size to [out] for [n] places: their indices along a dimension.
void launchIndicesAlong(int64_t* out, const int64_t* places, int64_t below, int64_t size, int64_t n);

// Where [mask] is true, writes the element of [source] whose number, counted from 1, [counts] has there; [source] has
// [available]. Notes an index that it has not.
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
