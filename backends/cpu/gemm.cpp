#include <boxcar/backends/cpu/gemm.h>
#include <boxcar/backends/cpu/library_gemm.h>
#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/backends/cpu/plain_gemm.h>
#include <boxcar/backends/functors/arithmetic.h>
#include <boxcar/ivalue/stop_request.h>

#include <algorithm>
#include <complex>
#include <type_traits>
#include <vector>

namespace boxcar::cpu {
namespace {

// For products with fewer multiplications, a library's setup costs more than it saves.
constexpr double kOneDnnWork = 32 * 32 * 32;
constexpr double kOpenBlasWork = 64 * 64 * 64;
// With fewer rows or columns, a product is memory-bound, and boxcar's own loops read the matrices faster. But oneDNN's
// are faster with a matrix [b] of contiguous rows that stays in the caches.
constexpr int64_t kLibrarySide = 4;
constexpr int64_t kSmallMatrix = int64_t{1} << 18;
// Sums up to this length are never computed in parts.
constexpr int64_t kShortSum = int64_t{1} << 14;
// Products with more multiplications are computed in parts: a library that is at one cannot be stopped.
constexpr double kLongWork = 1e12;

template <class T>
T multiplyAdd(T sum, T a, T b) {
  if constexpr (kIsComplex<T>) {
    // Omits the standard library's handling of infinite parts, which prevents vectorisation.
    return {sum.real() + (a.real() * b.real() - a.imag() * b.imag()),
            sum.imag() + (a.real() * b.imag() + a.imag() * b.real())};
  } else {
    return addElements(sum, multiplyElements(a, b));
  }
}

template <class T>
T valueOf(const Matrix<const T>& matrix, int64_t row, int64_t column) {
  const T value = matrix.at(row, column);
  if constexpr (kIsComplex<T>) {
    if (matrix.is_conjugated) return {value.real(), -value.imag()};
  }
  return value;
}

// Computes rows of c as sums of scaled rows of b, for the types without their own kernels.
template <class T>
void multiplyByRows(int64_t m, int64_t n, int64_t k, T alpha, Matrix<const T> a, Matrix<const T> b, T beta,
                    Matrix<T> c) {
  std::vector<T> copy;
  if ((b.column_step != 1 && m > 1) || b.is_conjugated) {
    copy.resize(static_cast<size_t>(k * n));
    for (int64_t p = 0; p < k; ++p) {
      for (int64_t j = 0; j < n; ++j) copy[static_cast<size_t>(p * n + j)] = valueOf(b, p, j);
    }
    b = {copy.data(), n, 1};
  }
  const int64_t rows_of_grain = kParallelGrain / std::max<int64_t>(n * std::max<int64_t>(k, 1), 1) + 1;
  parallelFor(0, m, rows_of_grain, [&](int64_t begin, int64_t end) {
    constexpr int64_t kBlock = 256;
    T sums[kBlock];
    for (int64_t i = begin; i < end; ++i) {
      for (int64_t first = 0; first < n; first += kBlock) {
        const int64_t columns = std::min(kBlock, n - first);
        std::fill_n(sums, columns, T(0));
        for (int64_t p = 0; p < k; ++p) {
          const T factor = valueOf(a, i, p);
          const T* row = &b.at(p, first);
          if (b.column_step == 1) {
            for (int64_t j = 0; j < columns; ++j) sums[j] = multiplyAdd(sums[j], factor, row[j]);
          } else {
            for (int64_t j = 0; j < columns; ++j) sums[j] = multiplyAdd(sums[j], factor, row[j * b.column_step]);
          }
        }
        for (int64_t j = 0; j < columns; ++j) {
          T& target = c.at(i, first + j);
          const T scaled = multiplyElements(alpha, sums[j]);
          target = beta == T(0) ? scaled : addElements(multiplyElements(beta, target), scaled);
        }
      }
    }
  });
}

double workOf(int64_t m, int64_t n, int64_t k) {
  return static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
}

template <class T>
void multiplyInParts(int64_t m, int64_t n, int64_t k, T alpha, Matrix<const T> a, Matrix<const T> b, T beta,
                     Matrix<T> c) {
  const int64_t most = std::max(kLongSum / (m * n), kShortSum);
  for (int64_t p = 0; p < k; p += most) {
    gemm<T>(m, n, std::min(most, k - p), alpha, a.from(0, p), b.from(p, 0), p == 0 ? beta : T(1), c);
    checkStop();
  }
}

}  // namespace

template <class T>
void gemm(int64_t m, int64_t n, int64_t k, T alpha, Matrix<const T> a, Matrix<const T> b, T beta, Matrix<T> c) {
  if (m == 0 || n == 0) return;
  if (k > kShortSum && (k > kLongSum || workOf(m, n, k) > kLongWork)) [[unlikely]]
    return multiplyInParts<T>(m, n, k, alpha, a, b, beta, c);
  if constexpr (std::is_floating_point_v<T> || kIsComplex<T>) {
    const double work = workOf(m, n, k);
    if constexpr (std::is_same_v<T, float>) {
      const bool suits = m >= kLibrarySide || (b.column_step == 1 && n * k <= kSmallMatrix);
      if (suits && n >= kLibrarySide && work >= kOneDnnWork && gemmByOneDnn(m, n, k, alpha, a, b, beta, c)) return;
    }
    if (m >= kLibrarySide && n >= kLibrarySide) {
      if (work >= kOpenBlasWork && gemmByOpenBlas<T>(m, n, k, alpha, a, b, beta, c)) return;
    }
  }
  if constexpr (std::is_floating_point_v<T>) {
    plainGemm<T>(m, n, k, alpha, a, b, beta, c);
  } else {
    multiplyByRows<T>(m, n, k, alpha, a, b, beta, c);
  }
}

#define BOXCAR_GEMM(T) template void gemm(int64_t, int64_t, int64_t, T, Matrix<const T>, Matrix<const T>, T, Matrix<T>)
BOXCAR_GEMM(float);
BOXCAR_GEMM(double);
BOXCAR_GEMM(std::complex<float>);
BOXCAR_GEMM(std::complex<double>);
BOXCAR_GEMM(int8_t);
BOXCAR_GEMM(int16_t);
BOXCAR_GEMM(int32_t);
BOXCAR_GEMM(int64_t);
BOXCAR_GEMM(uint8_t);
#undef BOXCAR_GEMM

}  // namespace boxcar::cpu
