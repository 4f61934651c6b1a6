#include <boxcar/backends/cpu/library_gemm.h>

namespace boxcar::cpu {

template <class T>
bool gemmByOpenBlas(int64_t, int64_t, int64_t, T, Matrix<const T>, Matrix<const T>, T, Matrix<T>) {
  return false;
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
