#pragma once

#include <boxcar/backends/cpu/lapack.h>
#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/backends/native/linalg.h>
#include <boxcar/ivalue/stop_request.h>
#include <boxcar/ivalue/tensor.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>

// What the linear algebra kernels share: iteration over batches of column-major matrices, and what keeps
// an algorithm from them.

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

// Values that keep an iterative algorithm from converging.
enum class Content { kFinite, kInfinite, kNan };

template <class T>
Content contentOf(T element) {
  const RealOf<T> size = std::abs(element);
  return std::isfinite(size) ? Content::kFinite : std::isinf(size) ? Content::kInfinite : Content::kNan;
}
template <class T>
Content contentOf(const T* elements, int64_t count, Content found = Content::kFinite) {
  for (int64_t i = 0; i < count; ++i) found = std::max(found, contentOf(elements[i]));
  return found;
}

template <class T>
void fillNan(T* elements, int64_t count) {
  constexpr auto kNan = std::numeric_limits<RealOf<T>>::quiet_NaN();
  if constexpr (kIsComplex<T>) {
    std::fill_n(elements, count, T(kNan, kNan));
  } else {
    std::fill_n(elements, count, kNan);
  }
}

// Writes zeros to one triangle of a square matrix: above or below its diagonal.
template <class T>
void clearTriangle(bool above, int64_t n, T* matrix) {
  for (int64_t j = 0; j < n; ++j) {
    T* column = matrix + j * n;
    above ? std::fill(column, column + j, T(0)) : std::fill(column + j + 1, column + n, T(0));
  }
}

}  // namespace boxcar::cpu
