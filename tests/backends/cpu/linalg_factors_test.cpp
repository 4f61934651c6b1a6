#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tests/backends/tensor_helpers.h"

// Factors multiply to the matrix, whatever its shape, and arguments that LAPACK must not see are refused.

namespace boxcar {
namespace {

constexpr const char* kNoError = "no error";

double greatestDifference(const Tensor& a, const Tensor& b) { return item(max(abs(sub(a, b)))).toDouble(); }

Tensor randomMatrices(std::initializer_list<int64_t> sizes, ScalarType type = ScalarType::Double) {
  return to(randn(sizes, ScalarType::Double), type);
}

TEST(LinalgFactors, LuMultipliesToTheMatrix) {
  for (const int64_t m : {1, 3, 7, 40}) {
    for (const int64_t n : {1, 3, 7, 40}) {
      const Tensor a = randomMatrices({2, m, n});
      const auto [p, l, u] = linalg_lu(a);
      EXPECT_LT(greatestDifference(matmul(p, matmul(l, u)), a), 1e-12);
      EXPECT_EQ(greatestDifference(triu(l), to(eye(m, std::min(m, n)), ScalarType::Double)), 0);
    }
  }
}

TEST(LinalgFactors, EigenvectorsSatisfyTheirEquation) {
  for (const ScalarType type : {ScalarType::Double, ScalarType::ComplexDouble}) {
    const Tensor a = randomMatrices({3, 12, 12}, type);
    const auto [values, vectors] = linalg_eig(a);
    const Tensor complex = to(a, ScalarType::ComplexDouble);
    EXPECT_LT(greatestDifference(matmul(complex, vectors), mul(vectors, unsqueeze(values, -2))), 1e-11);
    const int64_t last = -1;
    EXPECT_LT(
        greatestDifference(sum(values, std::span(&last, 1)), sum(diagonal(complex, 0, -2, -1), std::span(&last, 1))),
        1e-11);
  }
}

TEST(LinalgFactors, PseudoinversesInvertWhatTheyCan) {
  const Tensor a = matmul(randomMatrices({2, 6, 3}), randomMatrices({2, 3, 5}));
  const Tensor inverse = linalg_pinv(a);
  EXPECT_LT(greatestDifference(matmul(matmul(a, inverse), a), a), 1e-9);
  EXPECT_EQ(item(max(linalg_matrix_rank(a))).toLong(), 3);
  EXPECT_EQ(item(min(linalg_matrix_rank(a))).toLong(), 3);
}

TEST(LinalgFactors, ExponentialsOfLargeNormsAreAccurate) {
  // The exponential of a skew-symmetric matrix is a rotation.
  for (const double angle : {0.1, 1.0, 30.0, 1e4}) {
    Tensor a = zeros({2, 2}, ScalarType::Double);
    a.data_ptr<double>()[1] = -angle;
    a.data_ptr<double>()[2] = angle;
    const Tensor rotation = linalg_matrix_exp(a);
    EXPECT_NEAR(rotation.data_ptr<double>()[0], std::cos(angle), 1e-15 * (4 + 4 * angle)) << angle;
    EXPECT_NEAR(rotation.data_ptr<double>()[2], std::sin(angle), 1e-15 * (4 + 4 * angle)) << angle;
  }
}

TEST(LinalgFactors, WhatIsNotFiniteIsRefusedBeforeLapackSeesIt) {
  constexpr const char* kText =
      "The algorithm failed to converge because the input matrix contained non-finite values.";
  for (const double value : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    Tensor a = randomMatrices({2, 3, 3});
    a.data_ptr<double>()[13] = value;
    const Tensor b = randomMatrices({2, 3, 1});
    EXPECT_EQ(errorOf([&] { linalg_eig(a); }), std::string("linalg.eig: (Batch element 1): ") + kText);
    EXPECT_EQ(errorOf([&] { linalg_eigvals(a); }), std::string("linalg.eig: (Batch element 1): ") + kText);
    for (const char* driver : {"gels", "gelsy", "gelsd", "gelss"}) {
      EXPECT_EQ(errorOf([&] { linalg_lstsq(a, b, std::nullopt, driver); }),
                std::string("linalg.lstsq: (Batch element 1): ") + kText);
    }
  }
}

TEST(LinalgFactors, AnInfiniteRightSideHasNoSolutionButTheMatrixHasARank) {
  const Tensor a = to(eye(3, 2), ScalarType::Double);
  Tensor b = ones({3, 1}, ScalarType::Double);
  b.data_ptr<double>()[1] = std::numeric_limits<double>::infinity();
  const auto [x, residuals, rank, values] = linalg_lstsq(a, b, std::nullopt, "gelsd");
  EXPECT_TRUE(item(all(isnan(x))).toBool());
  EXPECT_EQ(item(rank).toLong(), 2);
  EXPECT_EQ(item(values.view(values.sizes().first(0), {}, 0)).toDouble(), 1);
}

TEST(LinalgFactors, PivotsThatPointOutsideAreRefused) {
  const Tensor a = add(randomMatrices({3, 3}), to(eye(3), ScalarType::Double), 5);
  const Tensor b = ones({3, 1}, ScalarType::Double);
  const auto [factors, pivots] = linalg_ldl_factor(a);
  const auto withPivots = [&](std::vector<int32_t> values) {
    Tensor changed = clone(pivots);
    for (size_t i = 0; i < values.size(); ++i) changed.data_ptr<int32_t>()[i] = values[i];
    return changed;
  };
  EXPECT_EQ(errorOf([&] {
              linalg_ldl_solve(factors, withPivots({1, 2, 4}), b);
            }),
            "linalg.ldl_solve: pivots must be from 1 to 3, the rows of the factors, but one is 4");
  EXPECT_EQ(errorOf([&] {
              linalg_ldl_solve(factors, withPivots({1, 2, -3}), b);
            }),
            "linalg.ldl_solve: the negative pivot -3 at 2 has no second one; pass the pivots of linalg.ldl_factor");
  EXPECT_EQ(errorOf([&] {
              linalg_ldl_solve(factors, withPivots({-9, -2, 3}), b);
            }),
            "linalg.ldl_solve: pivots must be from -3 to 3, but one is -9");
  EXPECT_EQ(errorOf([&] { linalg_ldl_solve(factors, withPivots({-2, -2, 3}), b); }), kNoError);
  EXPECT_EQ(errorOf([&] {
              linalg_lu_solve(factors, withPivots({1, 0, 3}), b);
            }),
            "linalg.lu_solve: pivots must be from 1 to 3, the rows of the factors, but one is 0");
  EXPECT_EQ(errorOf([&] {
              lu_unpack(factors, withPivots({1, 7, 3}));
            }),
            "lu_unpack: pivots must be from 1 to 3, the rows of LU_data, but one is 7");
}

// NaN may confuse the choice of pivots, but not their range.
TEST(LinalgFactors, FactorsOfNanHavePivotsThatCanBeUsed) {
  for (const int64_t n : {1, 2, 5, 40, 130}) {
    for (const ScalarType type : {ScalarType::Float, ScalarType::Double, ScalarType::ComplexFloat}) {
      Tensor a = randomMatrices({n, n}, type);
      Tensor row = select(a, 0, n / 2);
      fill_(row, std::numeric_limits<double>::quiet_NaN());
      EXPECT_EQ(errorOf([&] { linalg_lu(a); }), kNoError);
      const auto [factors, pivots, info] = linalg_ldl_factor_ex(a);
      EXPECT_EQ(errorOf([&] { linalg_ldl_solve(factors, pivots, ones({n, 1}, type)); }), kNoError);
    }
  }
}

TEST(LinalgFactors, RankDeficiencyIsExplained) {
  Tensor a = zeros({2, 2}, ScalarType::Double);
  a.data_ptr<double>()[0] = 1;
  EXPECT_EQ(
      errorOf([&] {
        linalg_lstsq(a, ones({2, 1}, ScalarType::Double), std::nullopt, "gels");
      }),
      "linalg.lstsq: The least squares solution could not be computed because the input matrix does not have full "
      "rank (error code: 2); the drivers 'gelsy', 'gelsd' and 'gelss' need no full rank.");
}

}  // namespace
}  // namespace boxcar
