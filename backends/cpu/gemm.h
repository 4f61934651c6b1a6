#pragma once

#include <boxcar/backends/cpu/matrix.h>

#include <cstdint>

namespace boxcar::cpu {

// Longer sums are computed in parts, with a call of checkStop() between them.
inline constexpr int64_t kLongSum = int64_t{1} << 24;

// c = beta * c + alpha * a @ b, where a is [m] by [k] and b is [k] by [n] elements; [c] is not read if [beta] is 0.
// Supports all numeric types except float16 and bfloat16 (integers wrap); [c] must not overlap an input. Large products
// are split between threads, and use oneDNN or OpenBLAS if the library is available and supports the matrices' strides.
template <class T>
void gemm(int64_t m, int64_t n, int64_t k, T alpha, Matrix<const T> a, Matrix<const T> b, T beta, Matrix<T> c);

}  // namespace boxcar::cpu
