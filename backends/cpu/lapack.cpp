#include <boxcar/backends/cpu/lapack.h>
#include <boxcar/backends/cpu/plain_eigen.h>
#include <boxcar/backends/cpu/plain_general_eigen.h>
#include <boxcar/backends/cpu/plain_ldl.h>
#include <boxcar/backends/cpu/plain_least_squares.h>
#include <boxcar/backends/cpu/plain_qr.h>
#include <boxcar/backends/cpu/plain_solvers.h>

#include <complex>

namespace boxcar::cpu {

template <class T>
const Lapack<T>& plainLapack() {
  static constexpr Lapack<T> kPlain = {
      plain::factorLu<T>,      plain::solveLu<T>,          plain::factorCholesky<T>,
      plain::solveCholesky<T>, plain::solveTriangular<T>,  plain::factorQr<T>,
      plain::formQ<T>,         plain::findEigen<T>,        plain::findSvd<T>,
      plain::applyQ<T>,        plain::findGeneralEigen<T>, plain::solveLeastSquares<T>,
      plain::factorLdl<T>,     plain::solveLdl<T>,
  };
  return kPlain;
}

template <class T>
const Lapack<T>& lapack() {
  static const Lapack<T>* const found = openBlasLapack<T>();
  return found != nullptr ? *found : plainLapack<T>();
}

template const Lapack<float>& lapack();
template const Lapack<double>& lapack();
template const Lapack<std::complex<float>>& lapack();
template const Lapack<std::complex<double>>& lapack();
template const Lapack<float>& plainLapack();
template const Lapack<double>& plainLapack();
template const Lapack<std::complex<float>>& plainLapack();
template const Lapack<std::complex<double>>& plainLapack();

}  // namespace boxcar::cpu
