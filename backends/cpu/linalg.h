#pragma once

#include <boxcar/backends/cpu/lapack.h>
#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/backends/native/linalg.h>
#include <boxcar/ivalue/stop_request.h>
#include <boxcar/ivalue/tensor.h>

#include <complex>
#include <cstdint>

// What the linear algebra kernels share: iteration over batches of column-major matrices.

namespace boxcar::cpu {

inline constexpr ElementTypes<float, double, std::complex<float>, std::complex<double>> kLinalgTypes;

// Returns the first element of matrix [i] of a batch without gaps.
template <class T>
T* matrixAt(const Tensor& batch, int64_t i) {
  const auto sizes = batch.sizes().last(2);
  return static_cast<T*>(batch.data_ptr()) + i * sizes[0] * sizes[1];
}
// Returns the first element of vector [i].
template <class T>
T* vectorAt(const Tensor& batch, int64_t i) {
  return static_cast<T*>(batch.data_ptr()) + i * batch.sizes().back();
}

// Calls body(i) for each of [count] matrices of [size] rows or columns. Small matrices run in several threads at once;
// the library splits each large one between threads.
template <class Body>
void forEachMatrix(int64_t count, int64_t size, Body&& body) {
  constexpr int64_t kLarge = 128;
  const auto run = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) body(i);
  };
  if (size >= kLarge) {
    for (int64_t i = 0; i < count; ++i) {
      checkStop();
      body(i);
    }
    return;
  }
  parallelFor(0, count, kParallelGrain / (size * size * size + 1) + 1, run);
}

}  // namespace boxcar::cpu
