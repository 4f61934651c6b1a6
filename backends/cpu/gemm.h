#pragma once

#include <boxcar/backends/cpu/matrix.h>

#include <cstdint>

namespace boxcar::cpu {

// Longer sums are made of parts, between which checkStop() is asked.
inline constexpr int64_t kLongSum = int64_t{1} << 27;

// c = beta * c + alpha * a @ b, with a of [m] by [k] and b of [k] by [n] elements; what [c] held is not read when
// [beta] is 0. For all numbers but float16 and bfloat16 (integers wrap); [c] overlaps neither input. Large products are
// shared between threads, and made by oneDNN or OpenBLAS where they are and take the matrices' steps.
template <class T>
void gemm(int64_t m, int64_t n, int64_t k, T alpha, Matrix<const T> a, Matrix<const T> b, T beta, Matrix<T> c);

}  // namespace boxcar::cpu
