#include <complex>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "tests/backends/tensor_helpers.h"
#include "tests/captured_output.h"

// Iterative algorithms must never get input on which they do not converge, and must print nothing.

namespace boxcar {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr ScalarType kTypes[] = {ScalarType::Float, ScalarType::Double, ScalarType::ComplexFloat,
                                 ScalarType::ComplexDouble};

// Returns random numbers with [value] in row 0, column 1.
Tensor matrixWith(IntArrayRef sizes, double value, ScalarType dtype = ScalarType::Double) {
  Tensor matrix = to(rand(sizes, ScalarType::Double), dtype);
  Tensor place = select(select(matrix, 0, 0), 0, 1);
  fill_(place, value);
  return matrix;
}

bool holdsOnlyNan(const Tensor& tensor) { return item(all(isnan(tensor))).toBool(); }

const std::string kNotFinite = "The algorithm failed to converge because the input matrix contained non-finite values.";

TEST(NotFinite, SingularValuesOfInfinityAreNan) {
  for (const ScalarType dtype : kTypes) {
    for (const double value : {kInfinity, -kInfinity}) {
      for (const auto& sizes : {std::vector<int64_t>{8, 33}, {33, 8}, {2, 2}, {1, 2}}) {
        const Tensor x = matrixWith(sizes, value, dtype);
        EXPECT_TRUE(holdsOnlyNan(linalg_svdvals(x)));
        for (const bool full : {false, true}) {
          const auto [u, s, vh] = linalg_svd(x, full);
          EXPECT_TRUE(holdsOnlyNan(u) && holdsOnlyNan(s) && holdsOnlyNan(vh));
        }
      }
      EXPECT_TRUE(holdsOnlyNan(linalg_norm(matrixWith({3, 3}, value, dtype), 2)));
      EXPECT_TRUE(holdsOnlyNan(linalg_norm(matrixWith({3, 3}, value, dtype), std::string_view("nuc"))));
    }
  }
}

TEST(NotFinite, NothingIsPrinted) {
  const Tensor x = matrixWith({8, 33}, -kInfinity);
  EXPECT_EQ(outputOf([&] { linalg_svd(x); }), "");
}

TEST(NotFinite, SingularValuesOfNanAreAnError) {
  for (const ScalarType dtype : kTypes) {
    for (const auto& sizes : {std::vector<int64_t>{8, 33}, {33, 8}, {2, 2}}) {
      const Tensor x = matrixWith(sizes, kNan, dtype);
      EXPECT_EQ(errorOf([&] { linalg_svd(x); }), "linalg.svd: " + kNotFinite);
      EXPECT_EQ(errorOf([&] { linalg_svdvals(x); }), "linalg.svd: " + kNotFinite);
    }
  }
  const Tensor batch[] = {rand({3, 4}, ScalarType::Double), matrixWith({3, 4}, kNan)};
  EXPECT_EQ(errorOf([&] { linalg_svd(stack(batch)); }), "linalg.svd: (Batch element 1): " + kNotFinite);
}

TEST(NotFinite, OfABatchOnlyTheMatrixItselfIsNan) {
  const Tensor batch[] = {rand({3, 4}, ScalarType::Double), matrixWith({3, 4}, kInfinity)};
  const Tensor values = linalg_svdvals(stack(batch));
  EXPECT_TRUE(equal(select(values, 0, 0), linalg_svdvals(batch[0])));
  EXPECT_TRUE(holdsOnlyNan(select(values, 0, 1)));
}

TEST(NotFinite, EigenvaluesReadOneTriangle) {
  for (const ScalarType dtype : kTypes) {
    const Tensor infinite = matrixWith({5, 5}, kInfinity, dtype);
    EXPECT_FALSE(item(any(isnan(linalg_eigvalsh(infinite, "L")))).toBool());
    const auto [values, vectors] = linalg_eigh(infinite, "U");
    EXPECT_TRUE(holdsOnlyNan(values) && holdsOnlyNan(vectors));
    const Tensor nan = matrixWith({5, 5}, kNan, dtype);
    EXPECT_FALSE(item(any(isnan(linalg_eigvalsh(nan, "L")))).toBool());
    EXPECT_EQ(errorOf([&] { linalg_eigh(nan, "U"); }), "linalg.eigh: " + kNotFinite);
  }
  const Tensor single = full({1, 1}, kInfinity);
  EXPECT_EQ(toString(std::get<0>(linalg_eigh(single))), "tensor([inf])");
  EXPECT_EQ(toString(std::get<1>(linalg_eigh(single))), "tensor([[1.]])");
}

// Finite complex numbers whose magnitude overflows.
TEST(NotFinite, AComplexNumberTooLargeCountsAsInfinite) {
  const Tensor large = full({3, 3}, Scalar(std::complex<double>(1.5e308, 1.5e308)), ScalarType::ComplexDouble);
  EXPECT_TRUE(holdsOnlyNan(linalg_svdvals(large)));
}

TEST(NotFinite, FactorsAndSolutionsComeToAnEnd) {
  for (const ScalarType dtype : kTypes) {
    for (const double value : {kInfinity, -kInfinity, kNan}) {
      const Tensor x = matrixWith({9, 9}, value, dtype);
      EXPECT_EQ(sizesOf(std::get<0>(linalg_qr(x))), (std::vector<int64_t>{9, 9}));
      EXPECT_EQ(sizesOf(std::get<0>(linalg_inv_ex(x))), (std::vector<int64_t>{9, 9}));
      EXPECT_FALSE(item(isfinite(linalg_det(x))).toBool());
      EXPECT_EQ(errorOf([&] { linalg_cholesky(add(x, mul(eye(9, dtype), 9)), /*upper=*/true); }),
                "linalg.cholesky: The factorization could not be completed because the input is not positive-definite "
                "(the leading minor of order 2 is not positive-definite).");
    }
  }
}

}  // namespace
}  // namespace boxcar
