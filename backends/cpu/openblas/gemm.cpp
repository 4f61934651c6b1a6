#include <boxcar/backends/cpu/library_gemm.h>
#include <boxcar/backends/cpu/openblas/library.h>

namespace boxcar::cpu {
namespace {

// The Fortran interface: all arguments by address, matrices column-major.
template <class T>
using Gemm = void (*)(const char* transpose_a, const char* transpose_b, const int* m, const int* n, const int* k,
                      const T* alpha, const T* a, const int* lda, const T* b, const int* ldb, const T* beta, T* c,
                      const int* ldc);

template <class T>
constexpr const char* kName = nullptr;
template <>
constexpr const char* kName<float> = "sgemm_";
template <>
constexpr const char* kName<double> = "dgemm_";
template <>
constexpr const char* kName<std::complex<float>> = "cgemm_";
template <>
constexpr const char* kName<std::complex<double>> = "zgemm_";

// R, the conjugates without transposing, is OpenBLAS's own.
const char* formOf(LibraryMatrix matrix) {
  if (matrix.is_conjugated) return matrix.transposed ? "C" : "R";
  return matrix.transposed ? "T" : "N";
}

}  // namespace

template <class T>
bool gemmByOpenBlas(int64_t m, int64_t n, int64_t k, T alpha, Matrix<const T> a, Matrix<const T> b, T beta,
                    Matrix<T> c) {
  static const auto run = reinterpret_cast<Gemm<T>>(openblas::findSymbol(kName<T>));
  if (run == nullptr) return false;
  const openblas::Threads threads;
  return runLibraryGemm<T>(
      m, n, k, a, b, c,
      [&](LibraryMatrix a_as, LibraryMatrix b_as, int64_t rows, int64_t columns, int64_t depth, const T* a_data,
          const T* b_data, T* c_data, int64_t ldc) {
        // Read as column-major, row-major matrices are transposed: c^T = b^T a^T.
        const int sizes[] = {static_cast<int>(columns), static_cast<int>(rows), static_cast<int>(depth)};
        const int steps[] = {static_cast<int>(b_as.step), static_cast<int>(a_as.step), static_cast<int>(ldc)};
        run(formOf(b_as), formOf(a_as), &sizes[0], &sizes[1], &sizes[2], &alpha, b_data, &steps[0], a_data, &steps[1],
            &beta, c_data, &steps[2]);
      });
}

template bool gemmByOpenBlas(int64_t, int64_t, int64_t, float, Matrix<const float>, Matrix<const float>, float,
                             Matrix<float>);
template bool gemmByOpenBlas(int64_t, int64_t, int64_t, double, Matrix<const double>, Matrix<const double>, double,
                             Matrix<double>);
template bool gemmByOpenBlas(int64_t, int64_t, int64_t, std::complex<float>, Matrix<const std::complex<float>>,
                             Matrix<const std::complex<float>>, std::complex<float>, Matrix<std::complex<float>>);
template bool gemmByOpenBlas(int64_t, int64_t, int64_t, std::complex<double>, Matrix<const std::complex<double>>,
                             Matrix<const std::complex<double>>, std::complex<double>, Matrix<std::complex<double>>);

}  // namespace boxcar::cpu
