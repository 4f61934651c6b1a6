#include <boxcar/backends/cpu/lapack.h>
#include <boxcar/backends/cpu/library_gemm.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <random>

#include "tests/guarded_memory.h"

// Libraries must read and write only the memory that they are given; memory next to it may be inaccessible. A failure
// is a crash.

namespace boxcar::cpu {
namespace {

template <class T>
class GuardedLapack : public testing::Test {
 protected:
  using Real = RealOf<T>;

  void fillRandom(const GuardedMemory<T>& memory) {
    std::uniform_real_distribution<Real> values(-1, 1);
    for (T& element : memory.elements()) {
      if constexpr (kIsComplex<T>) {
        element = T(values(generator_), values(generator_));
      } else {
        element = values(generator_);
      }
    }
  }
  // Fills a matrix that is Hermitian positive definite if only one triangle is read.
  void fillRegular(int64_t n, const GuardedMemory<T>& memory) {
    fillRandom(memory);
    for (int64_t i = 0; i < n; ++i) memory.data()[i + i * n] = static_cast<Real>(2 * n);
  }

  std::mt19937 generator_{7};
};

using Types = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(GuardedLapack, Types);

constexpr int64_t kSizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 17, 33, 91};

size_t count(int64_t rows, int64_t columns = 1) { return static_cast<size_t>(rows * columns); }

TYPED_TEST(GuardedLapack, FindsSingularValues) {
  using T = TypeParam;
  for (const int64_t m : kSizes) {
    for (const int64_t n : kSizes) {
      const int64_t k = std::min(m, n);
      for (const char what : {'N', 'S', 'A'}) {
        const GuardedMemory<T> a(count(m, n)), u(count(m, m)), vh(count(n, n));
        const GuardedMemory<RealOf<T>> s(count(k));
        const GuardedMemory<T> small_u(count(m, k)), small_vh(count(k, n));
        this->fillRandom(a);
        const bool all = what == 'A';
        ASSERT_EQ(lapack<T>().findSvd(what, m, n, a.data(), s.data(), (all ? u : small_u).data(),
                                      (all ? vh : small_vh).data()),
                  0);
        EXPECT_GE(s.data()[0], s.data()[k - 1]);
      }
    }
  }
}

TYPED_TEST(GuardedLapack, FindsEigenvectors) {
  using T = TypeParam;
  for (const int64_t n : kSizes) {
    for (const bool vectors : {false, true}) {
      for (const bool upper : {false, true}) {
        const GuardedMemory<T> a(count(n, n));
        const GuardedMemory<RealOf<T>> values(count(n));
        this->fillRandom(a);
        ASSERT_EQ(lapack<T>().findEigen(vectors, upper, n, a.data(), values.data()), 0);
        EXPECT_LE(values.data()[0], values.data()[n - 1]);
      }
    }
  }
}

TYPED_TEST(GuardedLapack, FactorsQr) {
  using T = TypeParam;
  for (const int64_t m : kSizes) {
    for (const int64_t n : kSizes) {
      const int64_t k = std::min(m, n);
      const GuardedMemory<T> a(count(m, n)), tau(count(k)), q(count(m, k));
      this->fillRandom(a);
      ASSERT_EQ(lapack<T>().factorQr(m, n, a.data(), tau.data()), 0);
      std::copy_n(a.data(), m * k, q.data());
      ASSERT_EQ(lapack<T>().formQ(m, k, k, q.data(), tau.data()), 0);
      EXPECT_LE(std::abs(q.data()[0]), 1 + 1e-5);
    }
  }
}

TYPED_TEST(GuardedLapack, MultipliesByQ) {
  using T = TypeParam;
  for (const int64_t m : kSizes) {
    for (const int64_t n : kSizes) {
      const int64_t k = std::min(m, n);
      const GuardedMemory<T> a(count(m, n)), reflections(count(m, k)), tau(count(k)), c(count(m, n));
      this->fillRandom(a);
      ASSERT_EQ(lapack<T>().factorQr(m, n, a.data(), tau.data()), 0);
      std::copy_n(a.data(), m * k, reflections.data());
      for (const bool left : {false, true}) {
        for (const bool adjoint : {false, true}) {
          this->fillRandom(c);
          ASSERT_EQ(lapack<T>().applyQ(left, adjoint, left ? m : n, left ? n : m, k, reflections.data(), tau.data(),
                                       c.data()),
                    0);
          EXPECT_TRUE(std::isfinite(std::abs(c.data()[0])));
        }
      }
    }
  }
}

TYPED_TEST(GuardedLapack, FindsEigenvectorsOfAnyMatrix) {
  using T = TypeParam;
  using Complex = std::complex<RealOf<T>>;
  for (const int64_t n : kSizes) {
    for (const bool has_vectors : {false, true}) {
      const GuardedMemory<T> a(count(n, n));
      const GuardedMemory<Complex> values(count(n)), vectors(count(n, n));
      this->fillRandom(a);
      ASSERT_EQ(lapack<T>().findGeneralEigen(n, a.data(), values.data(), has_vectors ? vectors.data() : nullptr), 0);
      EXPECT_TRUE(std::isfinite(std::abs(values.data()[n - 1])));
    }
  }
}

TYPED_TEST(GuardedLapack, SolvesLeastSquares) {
  using T = TypeParam;
  for (const int64_t m : kSizes) {
    for (const int64_t n : kSizes) {
      for (const auto method :
           {LeastSquares::kGels, LeastSquares::kGelsy, LeastSquares::kGelsd, LeastSquares::kGelss}) {
        const GuardedMemory<T> a(count(m, n)), b(count(std::max(m, n), 3));
        const GuardedMemory<RealOf<T>> s(count(std::min(m, n)));
        this->fillRandom(a);
        this->fillRandom(b);
        int64_t rank = 0;
        ASSERT_EQ(lapack<T>().solveLeastSquares(method, m, n, 3, RealOf<T>(0), a.data(), b.data(), s.data(), &rank), 0);
        EXPECT_TRUE(std::isfinite(std::abs(b.data()[0])));
      }
    }
  }
}

TYPED_TEST(GuardedLapack, SolvesByLdl) {
  using T = TypeParam;
  for (const int64_t n : kSizes) {
    for (const bool hermitian : {false, true}) {
      const GuardedMemory<T> a(count(n, n)), b(count(n, 3));
      const GuardedMemory<int32_t> pivots(count(n));
      this->fillRandom(a);
      this->fillRandom(b);
      ASSERT_EQ(lapack<T>().factorLdl(hermitian, n, a.data(), pivots.data()), 0);
      lapack<T>().solveLdl(hermitian, n, 3, a.data(), pivots.data(), b.data());
      EXPECT_TRUE(std::isfinite(std::abs(b.data()[0])));
    }
  }
}

TYPED_TEST(GuardedLapack, Solves) {
  using T = TypeParam;
  for (const int64_t n : kSizes) {
    for (const int64_t columns : kSizes) {
      const GuardedMemory<T> a(count(n, n)), b(count(n, columns));
      const GuardedMemory<int32_t> pivots(count(n));
      for (const bool flag : {false, true}) {
        this->fillRegular(n, a);
        this->fillRandom(b);
        ASSERT_EQ(lapack<T>().factorLu(n, n, a.data(), pivots.data()), 0);
        lapack<T>().solveLu(flag, n, columns, a.data(), pivots.data(), b.data());
        EXPECT_TRUE(std::isfinite(std::abs(b.data()[0])));
        this->fillRegular(n, a);
        this->fillRandom(b);
        ASSERT_EQ(lapack<T>().factorCholesky(flag, n, a.data()), 0);
        lapack<T>().solveCholesky(flag, n, columns, a.data(), b.data());
        EXPECT_TRUE(std::isfinite(std::abs(b.data()[0])));
        for (const bool left : {false, true}) {
          this->fillRegular(n, a);
          this->fillRandom(b);
          lapack<T>().solveTriangular(left, flag, /*unit=*/false, left ? n : columns, left ? columns : n, a.data(),
                                      b.data());
          EXPECT_TRUE(std::isfinite(std::abs(b.data()[0])));
        }
      }
    }
  }
}

TYPED_TEST(GuardedLapack, Multiplies) {
  using T = TypeParam;
  for (const int64_t m : kSizes) {
    for (const int64_t n : kSizes) {
      for (const int64_t k : {int64_t{1}, int64_t{7}, int64_t{33}}) {
        const GuardedMemory<T> a(count(m, k)), b(count(k, n)), c(count(m, n));
        std::ranges::fill(a.elements(), T(1));
        std::ranges::fill(b.elements(), T(1));
        for (const int choice : {0, 1, 2, 3}) {
          const Matrix<const T> left =
              (choice & 1) != 0 ? Matrix<const T>{a.data(), k, 1} : Matrix<const T>{a.data(), 1, m};
          const Matrix<const T> right =
              (choice & 2) != 0 ? Matrix<const T>{b.data(), n, 1} : Matrix<const T>{b.data(), 1, k};
          if (!gemmByOpenBlas<T>(m, n, k, T(1), left, right, T(0), {c.data(), n, 1}))
            GTEST_SKIP() << "there is no OpenBLAS";
          EXPECT_EQ(c.data()[m * n - 1], T(static_cast<RealOf<T>>(k)));
        }
      }
    }
  }
}

}  // namespace
}  // namespace boxcar::cpu
