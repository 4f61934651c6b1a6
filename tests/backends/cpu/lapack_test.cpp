#include <boxcar/backends/cpu/lapack.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <vector>

// The LAPACK functions and the plain ones that replace them must pass the same tests: the product of the factors is the
// matrix.

namespace boxcar::cpu {
namespace {

template <class T>
class LapackTest : public testing::Test {
 protected:
  using Real = RealOf<T>;
  using Elements = std::vector<T>;

  static std::vector<const Lapack<T>*> implementations() { return {&plainLapack<T>(), &lapack<T>()}; }

  // Returns a random matrix; matrices are column-major.
  Elements randomMatrix(int64_t m, int64_t n) {
    std::uniform_real_distribution<Real> values(-1, 1);
    Elements matrix(static_cast<size_t>(m * n));
    for (T& element : matrix) {
      if constexpr (kIsComplex<T>) {
        element = T(values(generator_), values(generator_));
      } else {
        element = values(generator_);
      }
    }
    return matrix;
  }

  // Returns a^H a + n, or a + n without [hermitian].
  Elements regularMatrix(int64_t n, bool hermitian = false) {
    Elements matrix = randomMatrix(n, n);
    if (hermitian) matrix = multiply(n, n, n, adjoint(n, n, matrix), matrix);
    for (int64_t i = 0; i < n; ++i) matrix[static_cast<size_t>(i + i * n)] += static_cast<Real>(n);
    return matrix;
  }

  static T conjugate(T value) {
    if constexpr (kIsComplex<T>) {
      return std::conj(value);
    } else {
      return value;
    }
  }
  static Elements adjoint(int64_t m, int64_t n, const Elements& a) {
    Elements result(a.size());
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        result[static_cast<size_t>(j + i * n)] = conjugate(a[static_cast<size_t>(i + j * m)]);
      }
    }
    return result;
  }
  static Elements transposed(int64_t n, const Elements& a) {
    Elements result = adjoint(n, n, a);
    for (T& element : result) element = conjugate(element);
    return result;
  }
  static Elements multiply(int64_t m, int64_t k, int64_t n, const Elements& a, const Elements& b) {
    Elements c(static_cast<size_t>(m * n));
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t p = 0; p < k; ++p) {
        for (int64_t i = 0; i < m; ++i) {
          c[static_cast<size_t>(i + j * m)] += a[static_cast<size_t>(i + p * m)] * b[static_cast<size_t>(p + j * k)];
        }
      }
    }
    return c;
  }
  static Elements identity(int64_t m, int64_t n) {
    Elements result(static_cast<size_t>(m * n));
    for (int64_t i = 0; i < std::min(m, n); ++i) result[static_cast<size_t>(i + i * m)] = 1;
    return result;
  }
  static Elements triangle(bool upper, int64_t m, int64_t n, Elements a, bool unit = false) {
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t i = 0; i < m; ++i) {
        if (i == j && unit) a[static_cast<size_t>(i + j * m)] = 1;
        if (upper ? i > j : i < j) a[static_cast<size_t>(i + j * m)] = 0;
      }
    }
    return a;
  }
  static void expectClose(const Elements& found, const Elements& expected, const char* what) {
    ASSERT_EQ(found.size(), expected.size()) << what;
    Real greatest = 1;
    for (const T& element : expected) greatest = std::max(greatest, static_cast<Real>(std::abs(element)));
    const Real limit = 2000 * std::numeric_limits<Real>::epsilon() * greatest;
    for (size_t i = 0; i < found.size(); ++i) {
      ASSERT_LE(std::abs(found[i] - expected[i]), limit) << what << ", element " << i << " of " << found.size();
    }
  }

  std::mt19937 generator_{7};
};

using Types = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(LapackTest, Types);

constexpr int64_t kSizes[] = {1, 2, 5, 20};

TYPED_TEST(LapackTest, SolvesByLu) {
  for (const Lapack<TypeParam>* functions : this->implementations()) {
    for (const int64_t n : kSizes) {
      const auto a = this->randomMatrix(n, n);
      const auto b = this->randomMatrix(n, 3);
      auto factors = a;
      std::vector<int32_t> pivots(static_cast<size_t>(n));
      ASSERT_EQ(functions->factorLu(n, n, factors.data(), pivots.data()), 0);
      auto x = b;
      functions->solveLu(false, n, 3, factors.data(), pivots.data(), x.data());
      this->expectClose(this->multiply(n, n, 3, a, x), b, "a x");
      x = b;
      functions->solveLu(true, n, 3, factors.data(), pivots.data(), x.data());
      auto transposed = this->adjoint(n, n, a);
      for (TypeParam& element : transposed) element = this->conjugate(element);
      this->expectClose(this->multiply(n, n, 3, transposed, x), b, "a^T x");
    }
  }
}

TYPED_TEST(LapackTest, TellsTheFirstZeroPivot) {
  for (const Lapack<TypeParam>* functions : this->implementations()) {
    std::vector<TypeParam> a = {1, 2, 2, 4};
    std::vector<int32_t> pivots(2);
    EXPECT_EQ(functions->factorLu(2, 2, a.data(), pivots.data()), 2);
    a = {0, 0, 0, 0};
    EXPECT_EQ(functions->factorLu(2, 2, a.data(), pivots.data()), 1);
  }
}

TYPED_TEST(LapackTest, FactorsAndSolvesByCholesky) {
  for (const Lapack<TypeParam>* functions : this->implementations()) {
    for (const int64_t n : kSizes) {
      const auto a = this->regularMatrix(n, /*hermitian=*/true);
      const auto b = this->randomMatrix(n, 3);
      for (const bool upper : {false, true}) {
        auto factor = a;
        ASSERT_EQ(functions->factorCholesky(upper, n, factor.data()), 0);
        const auto half = this->triangle(upper, n, n, factor);
        const auto other = this->adjoint(n, n, half);
        this->expectClose(upper ? this->multiply(n, n, n, other, half) : this->multiply(n, n, n, half, other), a,
                          "L L^H");
        auto x = b;
        functions->solveCholesky(upper, n, 3, factor.data(), x.data());
        this->expectClose(this->multiply(n, n, 3, a, x), b, "a x");
      }
    }
    std::vector<TypeParam> negative = {1, 0, 0, -1};
    EXPECT_EQ(functions->factorCholesky(false, 2, negative.data()), 2);
  }
}

TYPED_TEST(LapackTest, SolvesTriangles) {
  for (const Lapack<TypeParam>* functions : this->implementations()) {
    for (const int64_t n : kSizes) {
      for (const int choice : {0, 1, 2, 3, 4, 5, 6, 7}) {
        const bool left = (choice & 1) != 0, upper = (choice & 2) != 0, unit = (choice & 4) != 0;
        auto a = this->regularMatrix(n);
        // With a unit diagonal, other elements must be small, or solutions would grow.
        if (unit) {
          for (TypeParam& element : a) element /= static_cast<RealOf<TypeParam>>(2 * n);
        }
        const auto b = left ? this->randomMatrix(n, 3) : this->randomMatrix(3, n);
        const auto full = this->triangle(upper, n, n, a, unit);
        auto x = b;
        functions->solveTriangular(left, upper, unit, left ? n : 3, left ? 3 : n, a.data(), x.data());
        this->expectClose(left ? this->multiply(n, n, 3, full, x) : this->multiply(3, n, n, x, full), b, "a x");
      }
    }
  }
}

TYPED_TEST(LapackTest, FactorsQr) {
  for (const Lapack<TypeParam>* functions : this->implementations()) {
    for (const int64_t m : kSizes) {
      for (const int64_t n : kSizes) {
        const int64_t k = std::min(m, n);
        const auto a = this->randomMatrix(m, n);
        auto factors = a;
        std::vector<TypeParam> tau(static_cast<size_t>(k));
        ASSERT_EQ(functions->factorQr(m, n, factors.data(), tau.data()), 0);
        std::vector<TypeParam> q(factors.begin(), factors.begin() + m * k);
        q.resize(static_cast<size_t>(m * m));
        ASSERT_EQ(functions->formQ(m, m, k, q.data(), tau.data()), 0);
        this->expectClose(this->multiply(m, m, m, this->adjoint(m, m, q), q), this->identity(m, m), "Q^H Q");
        this->expectClose(this->multiply(m, m, n, q, this->triangle(true, m, n, factors)), a, "Q R");
      }
    }
  }
}

TYPED_TEST(LapackTest, FindsEigenvectors) {
  for (const Lapack<TypeParam>* functions : this->implementations()) {
    for (const int64_t n : kSizes) {
      const auto a = this->regularMatrix(n, /*hermitian=*/true);
      for (const bool upper : {false, true}) {
        auto vectors = this->triangle(upper, n, n, a);
        std::vector<RealOf<TypeParam>> values(static_cast<size_t>(n));
        ASSERT_EQ(functions->findEigen(true, upper, n, vectors.data(), values.data()), 0);
        EXPECT_TRUE(std::ranges::is_sorted(values));
        auto scaled = vectors;
        for (size_t i = 0; i < scaled.size(); ++i) scaled[i] *= values[i / static_cast<size_t>(n)];
        this->expectClose(this->multiply(n, n, n, a, vectors), scaled, "a v");
        this->expectClose(this->multiply(n, n, n, this->adjoint(n, n, vectors), vectors), this->identity(n, n),
                          "v^H v");
      }
    }
  }
}

TYPED_TEST(LapackTest, FindsSingularValues) {
  for (const Lapack<TypeParam>* functions : this->implementations()) {
    for (const int64_t m : kSizes) {
      for (const int64_t n : kSizes) {
        for (const bool deficient : {false, true}) {
          const int64_t k = std::min(m, n);
          auto a = this->randomMatrix(m, n);
          // A matrix of rank 1.
          if (deficient) a = this->multiply(m, 1, n, this->randomMatrix(m, 1), this->randomMatrix(1, n));
          for (const char what : {'A', 'S'}) {
            const int64_t columns = what == 'A' ? m : k;
            const int64_t rows = what == 'A' ? n : k;
            std::vector<TypeParam> u(static_cast<size_t>(m * columns)), vh(static_cast<size_t>(rows * n));
            std::vector<RealOf<TypeParam>> s(static_cast<size_t>(k));
            auto work = a;
            ASSERT_EQ(functions->findSvd(what, m, n, work.data(), s.data(), u.data(), vh.data()), 0);
            EXPECT_TRUE(std::ranges::is_sorted(s, std::greater<>()));
            std::vector<TypeParam> diagonal(static_cast<size_t>(columns * rows));
            for (int64_t i = 0; i < k; ++i) diagonal[static_cast<size_t>(i + i * columns)] = s[static_cast<size_t>(i)];
            this->expectClose(this->multiply(m, rows, n, this->multiply(m, columns, rows, u, diagonal), vh), a,
                              "U S V^H");
            this->expectClose(this->multiply(columns, m, columns, this->adjoint(m, columns, u), u),
                              this->identity(columns, columns), "U^H U");
            this->expectClose(this->multiply(rows, n, rows, vh, this->adjoint(rows, n, vh)), this->identity(rows, rows),
                              "V^H V");
            work = a;
            std::vector<RealOf<TypeParam>> alone(static_cast<size_t>(k));
            ASSERT_EQ(functions->findSvd('N', m, n, work.data(), alone.data(), nullptr, nullptr), 0);
            for (size_t i = 0; i < alone.size(); ++i) {
              EXPECT_NEAR(alone[i], s[i], 1000 * std::numeric_limits<RealOf<TypeParam>>::epsilon() * (1 + s[0]));
            }
          }
        }
      }
    }
  }
}

// The last rows of a solution of more equations than unknowns hold what remains.
TYPED_TEST(LapackTest, SolvesLeastSquares) {
  using Real = RealOf<TypeParam>;
  for (const Lapack<TypeParam>* functions : this->implementations()) {
    for (const int64_t m : kSizes) {
      for (const int64_t n : kSizes) {
        const int64_t k = std::min(m, n), rows = std::max(m, n);
        auto a = this->randomMatrix(m, n);
        for (int64_t i = 0; i < k; ++i) a[static_cast<size_t>(i + i * m)] += static_cast<Real>(rows);
        const auto b = this->randomMatrix(m, 3);
        for (const auto method :
             {LeastSquares::kGels, LeastSquares::kGelsy, LeastSquares::kGelsd, LeastSquares::kGelss}) {
          auto work = a;
          std::vector<TypeParam> solution(static_cast<size_t>(rows * 3));
          for (int64_t j = 0; j < 3; ++j) std::copy_n(b.begin() + j * m, m, solution.begin() + j * rows);
          std::vector<Real> s(static_cast<size_t>(k));
          int64_t rank = -1;
          ASSERT_EQ(
              functions->solveLeastSquares(method, m, n, 3, Real(1e-3), work.data(), solution.data(), s.data(), &rank),
              0);
          EXPECT_EQ(rank, method == LeastSquares::kGels ? -1 : k);
          std::vector<TypeParam> x(static_cast<size_t>(n * 3));
          for (int64_t j = 0; j < 3; ++j) std::copy_n(solution.begin() + j * rows, n, x.begin() + j * n);
          // a x - b is orthogonal to the columns of a, and x is in the span of its rows, so that none is shorter.
          auto rest = this->multiply(m, n, 3, a, x);
          for (size_t i = 0; i < rest.size(); ++i) rest[i] -= b[i];
          const auto normal = this->multiply(n, m, 3, this->adjoint(m, n, a), rest);
          this->expectClose(normal, std::vector<TypeParam>(normal.size()), "a^H (a x - b)");
          Real expected = 0, found = 0;
          for (const TypeParam& element : rest) expected += std::norm(element);
          for (int64_t j = 0; j < 3; ++j) {
            for (int64_t i = n; i < rows; ++i) found += std::norm(solution[static_cast<size_t>(i + j * rows)]);
          }
          EXPECT_NEAR(found, expected, 1e-4);
        }
      }
    }
  }
}

TYPED_TEST(LapackTest, SolvesLeastSquaresOfLessThanFullRank) {
  using Real = RealOf<TypeParam>;
  for (const Lapack<TypeParam>* functions : this->implementations()) {
    const std::vector<TypeParam> a = {2, 0, 0, 0, 4, 0, 0, 0, 0};
    for (const auto method : {LeastSquares::kGelsy, LeastSquares::kGelsd, LeastSquares::kGelss}) {
      auto work = a;
      std::vector<TypeParam> b = {2, 2, 2};
      std::vector<Real> s(3);
      int64_t rank = -1;
      ASSERT_EQ(functions->solveLeastSquares(method, 3, 3, 1, Real(1e-3), work.data(), b.data(), s.data(), &rank), 0);
      EXPECT_EQ(rank, 2);
      this->expectClose(b, {1, TypeParam(0.5), 0}, "x");
    }
    auto work = a;
    std::vector<TypeParam> b = {2, 2, 2};
    std::vector<Real> s(3);
    int64_t rank = -1;
    EXPECT_GT(
        functions->solveLeastSquares(LeastSquares::kGels, 3, 3, 1, Real(0), work.data(), b.data(), s.data(), &rank), 0);
  }
}

TYPED_TEST(LapackTest, FactorsAndSolvesByLdl) {
  for (const Lapack<TypeParam>* functions : this->implementations()) {
    for (const int64_t n : {1, 2, 3, 5, 20, 90}) {
      for (const bool hermitian : {false, true}) {
        // Small diagonals need pivots of two rows.
        auto a = this->randomMatrix(n, n);
        const auto other = hermitian ? this->adjoint(n, n, a) : this->transposed(n, a);
        for (size_t i = 0; i < a.size(); ++i) a[i] += other[i];
        for (int64_t i = 0; i < n; i += 2) a[static_cast<size_t>(i + i * n)] *= RealOf<TypeParam>(0.01);
        const auto b = this->randomMatrix(n, 3);
        auto factors = this->triangle(false, n, n, a);
        std::vector<int32_t> pivots(static_cast<size_t>(n));
        ASSERT_EQ(functions->factorLdl(hermitian, n, factors.data(), pivots.data()), 0);
        auto x = b;
        functions->solveLdl(hermitian, n, 3, factors.data(), pivots.data(), x.data());
        // The solution may be large.
        auto found = this->multiply(n, n, 3, a, x);
        RealOf<TypeParam> greatest = 1;
        for (const TypeParam& element : x) greatest = std::max(greatest, RealOf<TypeParam>(std::abs(element)));
        for (size_t i = 0; i < found.size(); ++i) found[i] = (found[i] - b[i]) / greatest;
        this->expectClose(found, std::vector<TypeParam>(found.size()), "a x - b");
      }
    }
    std::vector<TypeParam> zero(4);
    std::vector<int32_t> pivots(2);
    EXPECT_EQ(functions->factorLdl(true, 2, zero.data(), pivots.data()), 1);
    EXPECT_EQ(pivots, (std::vector<int32_t>{1, 2}));
  }
}

TYPED_TEST(LapackTest, ThePivotsOfLdlAreThoseOfLapack) {
  for (const int64_t n : {3, 5, 20}) {
    for (const bool hermitian : {false, true}) {
      auto a = this->randomMatrix(n, n);
      if (hermitian) {
        for (int64_t i = 0; i < n; ++i)
          a[static_cast<size_t>(i + i * n)] = std::real(a[static_cast<size_t>(i + i * n)]);
      }
      a = this->triangle(false, n, n, a);
      auto other = a;
      std::vector<int32_t> pivots(static_cast<size_t>(n)), other_pivots(pivots);
      ASSERT_EQ(plainLapack<TypeParam>().factorLdl(hermitian, n, a.data(), pivots.data()), 0);
      ASSERT_EQ(lapack<TypeParam>().factorLdl(hermitian, n, other.data(), other_pivots.data()), 0);
      EXPECT_EQ(pivots, other_pivots);
      this->expectClose(a, other, "L and D");
    }
  }
}

TYPED_TEST(LapackTest, MultipliesByQ) {
  for (const Lapack<TypeParam>* functions : this->implementations()) {
    for (const int64_t m : kSizes) {
      for (const int64_t n : kSizes) {
        const int64_t k = std::min(m, n);
        auto factors = this->randomMatrix(m, n);
        std::vector<TypeParam> tau(static_cast<size_t>(k));
        ASSERT_EQ(functions->factorQr(m, n, factors.data(), tau.data()), 0);
        std::vector<TypeParam> q(factors.begin(), factors.begin() + m * k);
        q.resize(static_cast<size_t>(m * m));
        ASSERT_EQ(functions->formQ(m, m, k, q.data(), tau.data()), 0);
        for (const int choice : {0, 1, 2, 3}) {
          const bool left = (choice & 1) != 0, adjoint = (choice & 2) != 0;
          const auto c = left ? this->randomMatrix(m, 3) : this->randomMatrix(3, m);
          const auto full = adjoint ? this->adjoint(m, m, q) : q;
          auto product = c;
          ASSERT_EQ(functions->applyQ(left, adjoint, left ? m : 3, left ? 3 : m, k, factors.data(), tau.data(),
                                      product.data()),
                    0);
          this->expectClose(product, left ? this->multiply(m, m, 3, full, c) : this->multiply(3, m, m, c, full), "Q c");
        }
      }
    }
  }
}

TYPED_TEST(LapackTest, FindsEigenvectorsOfAnyMatrix) {
  using Complex = std::complex<RealOf<TypeParam>>;
  for (const Lapack<TypeParam>* functions : this->implementations()) {
    for (const int64_t n : {1, 2, 3, 5, 20, 60}) {
      const auto a = this->randomMatrix(n, n);
      auto work = a;
      std::vector<Complex> values(static_cast<size_t>(n)), vectors(static_cast<size_t>(n * n)), alone(values);
      ASSERT_EQ(functions->findGeneralEigen(n, work.data(), values.data(), vectors.data()), 0);
      const RealOf<TypeParam> limit =
          2000 * std::numeric_limits<RealOf<TypeParam>>::epsilon() * static_cast<RealOf<TypeParam>>(n);
      for (int64_t j = 0; j < n; ++j) {
        const Complex* v = vectors.data() + j * n;
        RealOf<TypeParam> squares = 0;
        for (int64_t i = 0; i < n; ++i) {
          Complex product = 0;
          for (int64_t p = 0; p < n; ++p) product += Complex(a[static_cast<size_t>(i + p * n)]) * v[p];
          EXPECT_LE(std::abs(product - values[static_cast<size_t>(j)] * v[i]), limit) << n << ", column " << j;
          squares += std::norm(v[i]);
        }
        EXPECT_NEAR(squares, 1, 1e-4);
      }
      work = a;
      ASSERT_EQ(functions->findGeneralEigen(n, work.data(), alone.data(), nullptr), 0);
      Complex difference = 0;
      for (size_t i = 0; i < values.size(); ++i) difference += alone[i] - values[i];
      EXPECT_LE(std::abs(difference), limit);
    }
    // A matrix with one eigenvector only, a rotation, whose eigenvalues are as large as each other, and zeros.
    for (std::vector<TypeParam> a : {std::vector<TypeParam>{1, 0, 0, 1, 1, 0, 0, 1, 1},
                                     std::vector<TypeParam>{0, 1, 0, 0, 0, 1, 1, 0, 0}, std::vector<TypeParam>(9)}) {
      std::vector<Complex> values(3), vectors(9);
      ASSERT_EQ(functions->findGeneralEigen(3, a.data(), values.data(), vectors.data()), 0);
      for (const Complex& element : vectors) EXPECT_TRUE(std::isfinite(std::abs(element)));
    }
  }
}

// The plain functions terminate for any input.
TYPED_TEST(LapackTest, ThePlainSolversRefuseWhatIsNotFinite) {
  using Real = RealOf<TypeParam>;
  for (const Real value : {std::numeric_limits<Real>::infinity(), -std::numeric_limits<Real>::infinity(),
                           std::numeric_limits<Real>::quiet_NaN()}) {
    std::vector<TypeParam> a(25, TypeParam(1)), u(25), vh(25);
    a[5] = a[1] = value;
    std::vector<Real> values(5);
    auto work = a;
    EXPECT_NE(plainLapack<TypeParam>().findEigen(true, true, 5, work.data(), values.data()), 0);
    work = a;
    EXPECT_NE(plainLapack<TypeParam>().findSvd('A', 5, 5, work.data(), values.data(), u.data(), vh.data()), 0);
  }
}

TYPED_TEST(LapackTest, ExtremeScalesNeitherOverflowNorVanish) {
  for (const Lapack<TypeParam>* functions : this->implementations()) {
    for (const double exponent : {-30.0, 30.0}) {
      const auto scale = static_cast<RealOf<TypeParam>>(std::pow(10.0, exponent));
      std::vector<TypeParam> a = {3 * scale, 0, 0, 4 * scale};
      std::vector<TypeParam> u(4), vh(4);
      std::vector<RealOf<TypeParam>> s(2);
      ASSERT_EQ(functions->findSvd('A', 2, 2, a.data(), s.data(), u.data(), vh.data()), 0);
      EXPECT_NEAR(s[0] / scale, 4, 1e-5);
      EXPECT_NEAR(s[1] / scale, 3, 1e-5);
      a = {2 * scale, scale, scale, 2 * scale};
      ASSERT_EQ(functions->findEigen(true, false, 2, a.data(), s.data()), 0);
      EXPECT_NEAR(s[0] / scale, 1, 1e-5);
      EXPECT_NEAR(s[1] / scale, 3, 1e-5);
      std::vector<TypeParam> column = {3 * scale, 4 * scale};
      std::vector<TypeParam> tau(1);
      ASSERT_EQ(functions->factorQr(2, 1, column.data(), tau.data()), 0);
      EXPECT_NEAR(std::abs(column[0]) / scale, 5, 1e-5);
    }
  }
}

}  // namespace
}  // namespace boxcar::cpu
