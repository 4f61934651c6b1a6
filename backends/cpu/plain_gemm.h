#pragma once

#include <boxcar/backends/cpu/matrix.h>

#include <cstdint>

namespace boxcar::cpu {

// `gemm` (gemm.h) without a library: for float and double, with any steps.
template <class T>
void plainGemm(int64_t m, int64_t n, int64_t k, T alpha, Matrix<const T> a, Matrix<const T> b, T beta, Matrix<T> c);

extern template void plainGemm(int64_t, int64_t, int64_t, float, Matrix<const float>, Matrix<const float>, float,
                               Matrix<float>);
extern template void plainGemm(int64_t, int64_t, int64_t, double, Matrix<const double>, Matrix<const double>, double,
                               Matrix<double>);

}  // namespace boxcar::cpu
