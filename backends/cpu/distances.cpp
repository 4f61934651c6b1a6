#include <boxcar/backends/cpu/gemm.h>
#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/backends/cpu/registration.h>
#include <boxcar/backends/dense/copy.h>
#include <boxcar/backends/dense/memory_checks.h>
#include <boxcar/backends/dense/pointwise.h>
#include <boxcar/backends/shape/broadcast.h>
#include <boxcar/backends/shape/matrices.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

namespace boxcar::cpu {
namespace {

constexpr ElementTypes<float, double> kDistanceTypes;

// The sum, or the greatest, of [term] of the differences of two rows, by several accumulators.
template <bool greatest, class T, class Term>
T accumulate(int64_t n, const T* x, const T* y, Term&& term) {
  constexpr int64_t kLanes = 8;
  const auto merge = [](T a, T b) { return greatest ? (b > a || b != b ? b : a) : a + b; };
  T lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int64_t k = 0; k < kLanes; ++k) lanes[k] = merge(lanes[k], term(std::abs(x[i + k] - y[i + k])));
  }
  T result = 0;
  for (const T lane : lanes) result = merge(result, lane);
  for (; i < n; ++i) result = merge(result, term(std::abs(x[i] - y[i])));
  return result;
}

template <class T>
T distance(int64_t n, const T* x, const T* y, T p) {
  if (p == 0) return accumulate<false>(n, x, y, [](T d) { return d != 0 ? T(1) : T(0); });
  if (p == 1) return accumulate<false>(n, x, y, [](T d) { return d; });
  if (p == 2) return std::sqrt(accumulate<false>(n, x, y, [](T d) { return d * d; }));
  if (p == std::numeric_limits<T>::infinity()) return accumulate<true>(n, x, y, [](T d) { return d; });
  return std::pow(accumulate<false>(n, x, y, [p](T d) { return std::pow(d, p); }), 1 / p);
}

// The distances of m rows of x and n rows of y, of [depth] elements each.
template <class T>
void fillDistances(int64_t m, int64_t n, int64_t depth, const T* x, const T* y, T p, T* out) {
  parallelFor(0, m, kParallelGrain / std::max<int64_t>(n * depth, 1) + 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      for (int64_t j = 0; j < n; ++j) out[i * n + j] = distance(depth, x + i * depth, y + j * depth, p);
    }
  });
}

// The same for p = 2 by a product: |x - y|^2 = |x|^2 + |y|^2 - 2 x y.
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

Tensor cdistForward(const Tensor& x1, const Tensor& x2, double p, std::optional<int64_t> compute_mode) {
  const Device device = commonDevice({&x1, &x2});
  const shape::Distances call = shape::checkCdist(x1, x2, p, compute_mode);
  const Tensor out = Tensor::allocate(call.result, x1.scalar_type(), device);
  if (out.is_meta() || out.numel() == 0) return out;
  const Tensor a = toContiguous(shape::expandTo(x1, call.x1));
  const Tensor b = toContiguous(shape::expandTo(x2, call.x2));
  const int64_t m = a.sizes().last(2)[0];
  const int64_t n = b.sizes().last(2)[0];
  const int64_t depth = a.sizes().back();
  visitScalarType(kDistanceTypes, x1.scalar_type(), "cdist", [&]<class T>(std::type_identity<T>) {
    for (int64_t i = 0; i < out.numel() / (m * n); ++i) {
      const T* x = a.const_data_ptr<T>() + i * m * depth;
      const T* y = b.const_data_ptr<T>() + i * n * depth;
      T* target = out.data_ptr<T>() + i * m * n;
      if (call.by_product) {
        fillByProduct(m, n, depth, x, y, target);
      } else {
        fillDistances(m, n, depth, x, y, static_cast<T>(p), target);
      }
    }
  });
  return out;
}

}  // namespace

BOXCAR_CPU_AND_META(aten, m) { m.impl("_cdist_forward", BOXCAR_FN(cdistForward)); }

}  // namespace boxcar::cpu
