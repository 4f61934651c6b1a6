#pragma once

#include <boxcar/backends/cpu/plain_qr.h>
#include <boxcar/backends/cpu/plain_wide.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

// Eigenvalues and eigenvectors of any square matrix: reflections make it a Hessenberg matrix, shifted QR iterations
// make that a triangle T = Z^H a Z, and the eigenvectors of T follow by substitution. All in complex numbers, so that a
// real matrix needs no pairs of rows.

namespace boxcar::cpu::plain {

class GeneralEigen final {
 public:
  using Real = double;
  using Complex = Wide;

  GeneralEigen(int64_t n, std::vector<Complex> a)
      : n_(n), t_(std::move(a)), z_(static_cast<size_t>(n * n), Complex(0)) {
    for (const Complex& element : t_) greatest_ = std::max(greatest_, std::abs(element));
    if (greatest_ == 0) greatest_ = 1;
    for (Complex& element : t_) element /= greatest_;
    for (int64_t i = 0; i < n; ++i) z(i, i) = 1;
  }

  // Returns 0, or the row at which the iterations did not converge.
  int run() {
    makeHessenberg();
    return makeTriangle();
  }

  void values(Complex* values) {
    for (int64_t i = 0; i < n_; ++i) values[i] = t(i, i) * greatest_;
  }

  void vectors(Complex* vectors) {
    std::vector<Complex> x(static_cast<size_t>(n_));
    for (int64_t k = 0; k < n_; ++k) {
      solveFor(k, x.data());
      multiply(k, x.data(), vectors + k * n_);
    }
  }

 private:
  static constexpr Real kEpsilon = std::numeric_limits<Real>::epsilon();
  Complex& t(int64_t i, int64_t j) { return t_[static_cast<size_t>(i + j * n_)]; }
  Complex& z(int64_t i, int64_t j) { return z_[static_cast<size_t>(i + j * n_)]; }

  [[gnu::cold]] void makeHessenberg() {
    std::vector<Complex> v(static_cast<size_t>(n_));
    for (int64_t k = 0; k + 2 < n_; ++k) {
      const int64_t length = n_ - k - 1;
      std::copy_n(&t(k + 1, k), length, v.data());
      Complex tau = 0;
      factorQr<Complex>(length, 1, v.data(), &tau);
      t(k + 1, k) = v[0];
      std::fill_n(&t(k + 1, k) + 1, length - 1, Complex(0));
      reflect(length, n_ - k - 1, std::conj(tau), v.data(), &t(k + 1, k + 1), n_);
      reflectRows(n_, length, tau, v.data(), &t(0, k + 1));
      reflectRows(n_, length, tau, v.data(), &z(0, k + 1));
    }
  }

  // Returns the eigenvalue of the last two rows up to [hi] that is nearer to their last element.
  [[gnu::cold]] Complex shiftAt(int64_t hi) {
    const Complex a = t(hi - 1, hi - 1), d = t(hi, hi);
    const Complex half = (a - d) / Real(2);
    const Complex root = std::sqrt(half * half + t(hi - 1, hi) * t(hi, hi - 1));
    const Complex step = std::abs(half + root) < std::abs(half - root) ? half + root : half - root;
    return d + step;
  }

  [[gnu::cold]] int makeTriangle() {
    constexpr int kMostIterations = 60;
    int iterations = 0;
    for (int64_t hi = n_ - 1; hi > 0;) {
      int64_t lo = hi;
      for (; lo > 0; --lo) {
        const Real size = std::abs(t(lo - 1, lo - 1)) + std::abs(t(lo, lo));
        if (std::abs(t(lo, lo - 1)) > kEpsilon * (size > 0 ? size : Real(1))) continue;
        t(lo, lo - 1) = 0;
        break;
      }
      if (lo == hi) {
        --hi;
        iterations = 0;
        continue;
      }
      if (++iterations > kMostIterations) return static_cast<int>(hi + 1);
      const bool exceptional = iterations % 10 == 0;  // leaves a cycle of shifts that repeat
      step(lo, hi, exceptional ? Complex(std::abs(t(hi, hi - 1)) + std::abs(t(hi, hi))) : shiftAt(hi));
    }
    return 0;
  }

  // One QR iteration on rows and columns [lo] to [hi]: T - shift = G^H R, and then T = R G^H + shift.
  [[gnu::cold]] void step(int64_t lo, int64_t hi, Complex shift) {
    for (int64_t i = lo; i <= hi; ++i) t(i, i) -= shift;
    std::vector<Complex> cosines, sines;
    for (int64_t k = lo; k < hi; ++k) {
      const Real length = std::hypot(std::abs(t(k, k)), std::abs(t(k + 1, k)));
      const Complex c = length > 0 ? t(k, k) / length : Complex(1);
      const Complex s = length > 0 ? t(k + 1, k) / length : Complex(0);
      cosines.push_back(c);
      sines.push_back(s);
      for (int64_t j = k; j < n_; ++j) {
        const Complex x = t(k, j), y = t(k + 1, j);
        t(k, j) = std::conj(c) * x + std::conj(s) * y;
        t(k + 1, j) = c * y - s * x;
      }
    }
    for (int64_t k = lo; k < hi; ++k) {
      const Complex c = cosines[static_cast<size_t>(k - lo)], s = sines[static_cast<size_t>(k - lo)];
      rotateColumns(k + 2, c, s, &t(0, k), &t(0, k + 1));
      rotateColumns(n_, c, s, &z(0, k), &z(0, k + 1));
    }
    for (int64_t i = lo; i <= hi; ++i) t(i, i) += shift;
  }
  [[gnu::noinline, gnu::cold]] static void rotateColumns(int64_t rows, Complex c, Complex s, Complex* first,
                                                         Complex* second) {
    for (int64_t i = 0; i < rows; ++i) {
      const Complex x = first[i], y = second[i];
      first[i] = x * c + y * s;
      second[i] = y * std::conj(c) - x * std::conj(s);
    }
  }

  // Writes the eigenvector of T for its k-th value to x, up to its element k.
  [[gnu::cold]] void solveFor(int64_t k, Complex* x) {
    constexpr Real kLarge = 1e8;
    x[k] = 1;
    for (int64_t i = k - 1; i >= 0; --i) {
      Complex sum = -t(i, k) * x[k];
      for (int64_t j = i + 1; j < k; ++j) sum -= t(i, j) * x[j];
      Complex difference = t(i, i) - t(k, k);
      if (std::abs(difference) < kEpsilon) difference = kEpsilon;  // a repeated eigenvalue
      x[i] = sum / difference;
      const Real size = std::abs(x[i]);
      if (size < kLarge) continue;
      for (int64_t j = i; j <= k; ++j) x[j] /= size;
    }
  }

  // v = Z x, of length 1 and with a real greatest element.
  [[gnu::cold]] void multiply(int64_t k, const Complex* x, Complex* v) {
    std::fill_n(v, n_, Complex(0));
    for (int64_t j = 0; j <= k; ++j) subtractScaled(n_, -x[j], &z(0, j), v);
    Real squares = 0;
    Complex most = 0;
    for (int64_t i = 0; i < n_; ++i) {
      squares += std::norm(v[i]);
      if (std::norm(v[i]) > std::norm(most)) most = v[i];
    }
    const Complex factor = std::conj(most) / std::abs(most) / std::sqrt(squares);
    for (int64_t i = 0; i < n_; ++i) v[i] *= factor;
  }

  int64_t n_;
  Real greatest_ = 0;
  std::vector<Complex> t_, z_;
};

template <class T>
int findGeneralEigen(int64_t n, T* a, std::complex<RealOf<T>>* values, std::complex<RealOf<T>>* vectors) {
  GeneralEigen eigen(n, widened(a, n * n));
  const int info = eigen.run();
  if (info != 0) return info;
  std::vector<Wide> found(static_cast<size_t>(n));
  eigen.values(found.data());
  narrowTo(values, found);
  if (vectors == nullptr) return 0;
  found.resize(static_cast<size_t>(n * n));
  eigen.vectors(found.data());
  narrowTo(vectors, found);
  return 0;
}

}  // namespace boxcar::cpu::plain
