#include <boxcar/backends/cpu/lapack.h>

#include <complex>

namespace boxcar::cpu {

template <class T>
const Lapack<T>* openBlasLapack() {
  return nullptr;
}

template const Lapack<float>* openBlasLapack();
template const Lapack<double>* openBlasLapack();
template const Lapack<std::complex<float>>* openBlasLapack();
template const Lapack<std::complex<double>>* openBlasLapack();

}  // namespace boxcar::cpu
