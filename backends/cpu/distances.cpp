#include <boxcar/backends/cpu/gemm.h>
#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/backends/functors/distances.h>
#include <boxcar/backends/native/distances.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace boxcar::cpu {
namespace {

// Returns the distance between two rows, using several accumulators.
template <class T, class Distance>
T distanceOf(const Distance& distance, int64_t n, const T* x, const T* y) {
  constexpr int64_t kLanes = 8;
  T lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int64_t k = 0; k < kLanes; ++k) {
      lanes[k] = distance.merge(lanes[k], distance.term(std::abs(x[i + k] - y[i + k])));
    }
  }
  T result = 0;
  for (const T lane : lanes) result = distance.merge(result, lane);
  for (; i < n; ++i) result = distance.merge(result, distance.term(std::abs(x[i] - y[i])));
  return distance.finish(result);
}

// Writes the distances between m rows of x and n rows of y, of [depth] elements each.
template <class T>
void fillDistances(int64_t m, int64_t n, int64_t depth, const T* x, const T* y, T p, T* out) {
  visitDistance(p, [&](const auto& distance) {
    parallelFor(0, m, kParallelGrain / std::max<int64_t>(n * depth, 1) + 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        for (int64_t j = 0; j < n; ++j) out[i * n + j] = distanceOf(distance, depth, x + i * depth, y + j * depth);
      }
    });
  });
}

// Writes the distances for p = 2 using a matrix product: |x - y|^2 = |x|^2 + |y|^2 - 2 x y.
template <class T>
void fillByProduct(int64_t m, int64_t n, int64_t depth, const T* x, const T* y, T* out) {
  const auto squares = [depth](int64_t rows, const T* matrix) {
    std::vector<T> sums(static_cast<size_t>(rows));
    for (int64_t i = 0; i < rows; ++i) {
      const T* row = matrix + i * depth;
      for (int64_t k = 0; k < depth; ++k) sums[static_cast<size_t>(i)] += row[k] * row[k];
    }
    return sums;
  };
  const std::vector<T> of_x = squares(m, x);
  const std::vector<T> of_y = squares(n, y);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) out[i * n + j] = of_x[static_cast<size_t>(i)] + of_y[static_cast<size_t>(j)];
  }
  gemm<T>(m, n, depth, T(-2), {x, depth, 1}, {y, 1, depth}, T(1), {out, n, 1});
  parallelFor(0, m * n, kParallelGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) out[i] = out[i] < 0 ? T(0) : std::sqrt(out[i]);
  });
}

void distances(const Tensor& out, const Tensor& a, const Tensor& b, double p, bool by_product) {
  const int64_t m = a.sizes().last(2)[0];
  const int64_t n = b.sizes().last(2)[0];
  const int64_t depth = a.sizes().back();
  visitScalarType(kFullFloatTypes, out.scalar_type(), "cdist", [&]<class T>(std::type_identity<T>) {
    for (int64_t i = 0; i < out.numel() / (m * n); ++i) {
      const T* x = a.const_data_ptr<T>() + i * m * depth;
      const T* y = b.const_data_ptr<T>() + i * n * depth;
      T* target = out.data_ptr<T>() + i * m * n;
      if (by_product) {
        fillByProduct(m, n, depth, x, y, target);
      } else {
        fillDistances(m, n, depth, x, y, static_cast<T>(p), target);
      }
    }
  });
}

}  // namespace
}  // namespace boxcar::cpu

namespace boxcar::native {

BOXCAR_REGISTER_STUB(CPU, rowDistances, cpu::distances)

}  // namespace boxcar::native
