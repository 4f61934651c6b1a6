#include <boxcar/backends/cpu/vector_moments.h>

namespace boxcar::cpu {
namespace {

// Several accumulators, so that additions do not depend on each other.
template <class T>
Deviations<T> sumRow(const T* in, size_t n, T shift) {
  constexpr size_t kLanes = 8;
  T sums[kLanes] = {};
  T squares[kLanes] = {};
  for (size_t i = 0; i < n; ++i) {
    const T x = in[i] - shift;
    sums[i % kLanes] += x;
    squares[i % kLanes] += x * x;
  }
  Deviations<T> result{0, 0};
  for (size_t k = 0; k < kLanes; ++k) {
    result.sum += sums[k];
    result.squares += squares[k];
  }
  return result;
}

}  // namespace

template <>
Deviations<float> sumDeviations<float>(const float* in, size_t n, float shift) {
  return sumRow(in, n, shift);
}
template <>
Deviations<double> sumDeviations<double>(const double* in, size_t n, double shift) {
  return sumRow(in, n, shift);
}

}  // namespace boxcar::cpu
