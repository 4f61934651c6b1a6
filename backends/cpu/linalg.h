#pragma once

#include <boxcar/backends/cpu/lapack.h>
#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/backends/dense/copy.h>
#include <boxcar/backends/shape/linalg.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/tensor.h>

#include <complex>
#include <cstdint>
#include <string_view>

// What the kernels of linear algebra share: batches of column-major matrices, and what failed in them.

namespace boxcar::cpu {

inline constexpr ElementTypes<float, double, std::complex<float>, std::complex<double>> kLinalgTypes;

// A batch of column-major matrices, not initialised.
Tensor allocateMatrices(std::span<const int64_t> sizes, ScalarType dtype, Device device);
// One with the elements of [source], which is broadcast.
Tensor copyMatrices(std::span<const int64_t> sizes, const Tensor& source);

// The first element of matrix [i] of a batch that lies without gaps.
template <class T>
T* matrixAt(const Tensor& batch, int64_t i) {
  const auto sizes = batch.sizes().last(2);
  return static_cast<T*>(batch.data_ptr()) + i * sizes[0] * sizes[1];
}
// The first element of vector [i].
template <class T>
T* vectorAt(const Tensor& batch, int64_t i) {
  return static_cast<T*>(batch.data_ptr()) + i * batch.sizes().back();
}

// How many matrices [tensor] holds.
int64_t matrixCount(const Tensor& tensor);

// Calls body(i) for each of [count] matrices of [size] rows or columns; small ones in several threads at once, while
// each large one is shared between threads by the library.
template <class Body>
void forEachMatrix(int64_t count, int64_t size, Body&& body) {
  constexpr int64_t kLarge = 128;
  const auto run = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) body(i);
  };
  if (size >= kLarge) return run(0, count);
  parallelFor(0, count, kParallelGrain / (size * size * size + 1) + 1, run);
}

enum class Failure { kSingular, kNotInvertible, kNotPositive, kNoSingularValues, kNoEigenvalues };

// An Error for the first matrix whose [info], int32, is not 0. Nothing on Meta.
void checkInfo(std::string_view name, const Tensor& info, Failure failure);

}  // namespace boxcar::cpu
