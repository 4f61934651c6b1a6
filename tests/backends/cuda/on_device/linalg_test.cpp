#include <boxcar/ivalue/cpu_generator.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>
#include <tuple>
#include <vector>

#include "tests/backends/cuda/on_device/device_helpers.h"

// Linear algebra on a simulated GPU, whose solvers are the CPU's. Tests what is done with their results, for matrices
// larger than the blocks of kernels.

namespace boxcar {
namespace {

using cuda::kCuda;
using cuda::onCuda;
using cuda::onHost;
constexpr ScalarType kTypes[] = {ScalarType::Float, ScalarType::Double, ScalarType::ComplexFloat,
                                 ScalarType::ComplexDouble};

// Returns the largest difference of elements, relative to the largest magnitude.
double distance(const Tensor& found, const Tensor& expected) {
  EXPECT_EQ(found.device(), kCuda);
  EXPECT_EQ(sizesOf(found), sizesOf(expected));
  EXPECT_EQ(stridesOf(found), stridesOf(expected));
  const double scale = item(max(abs(expected))).toDouble();
  return item(max(abs(sub(onHost(found), expected)))).toDouble() / (scale == 0 ? 1 : scale);
}

double toleranceOf(ScalarType type) {
  return type == ScalarType::Float || type == ScalarType::ComplexFloat ? 1e-4 : 1e-10;
}

class CudaLinalgTest : public testing::TestWithParam<ScalarType> {
 protected:
  void SetUp() override { manualSeed(1); }

  Tensor randomOf(IntArrayRef sizes) const {
    Tensor x = empty(sizes, GetParam());
    return normal_(x, 0, 1);
  }
  // Returns matrices far from singular.
  Tensor regular(IntArrayRef sizes) const {
    return add(randomOf(sizes), mul(eye(sizes.back(), GetParam()), 2.5 * std::sqrt(static_cast<double>(sizes.back()))));
  }
  Tensor positive(IntArrayRef sizes) const {
    const Tensor half = randomOf(sizes);
    return add(matmul(half, resolve_conj(conj(transpose(half, -2, -1)))),
               mul(eye(sizes.back(), GetParam()), static_cast<double>(sizes.back())));
  }
  void expectClose(const Tensor& found, const Tensor& expected) const {
    EXPECT_LT(distance(found, expected), toleranceOf(GetParam()));
  }
};

TEST_P(CudaLinalgTest, SolvesAsTheCpuDoes) {
  for (const int64_t n : {1, 7, 70}) {
    const Tensor a = regular({2, n, n});
    const Tensor b = randomOf({2, n, 5});
    expectClose(linalg_solve(onCuda(a), onCuda(b)), linalg_solve(a, b));
    const Tensor turned = transpose(a, -2, -1);
    expectClose(linalg_solve(transpose(onCuda(a), -2, -1), onCuda(b)), linalg_solve(turned, b));
    const Tensor wide = randomOf({2, 5, n});
    expectClose(linalg_solve(onCuda(a), onCuda(wide), false), linalg_solve(a, wide, false));
    expectClose(linalg_inv(onCuda(a)), linalg_inv(a));
    for (const bool upper : {false, true}) {
      const Tensor triangle = upper ? triu(a) : tril(a);
      expectClose(linalg_solve_triangular(onCuda(a), onCuda(b), upper), linalg_solve_triangular(a, b, upper));
      expectClose(linalg_solve_triangular(onCuda(a), onCuda(wide), upper, false),
                  linalg_solve_triangular(a, wide, upper, false));
      expectClose(cholesky_solve(onCuda(b), onCuda(triangle), upper), cholesky_solve(b, triangle, upper));
    }
  }
}

TEST_P(CudaLinalgTest, DeterminantsAreThoseOfTheCpu) {
  for (const int64_t n : {1, 5, 12}) {
    const Tensor a = regular({3, n, n});
    expectClose(linalg_det(onCuda(a)), linalg_det(a));
  }
  // More rows than a block has threads, in random order.
  const Tensor rows = index_select(regular({300, 300}), 0, randperm(300));
  const auto [sign, logarithm] = linalg_slogdet(onCuda(rows));
  const auto [expected_sign, expected_logarithm] = linalg_slogdet(rows);
  expectClose(sign, expected_sign);
  expectClose(logarithm, expected_logarithm);
  EXPECT_EQ(item(real(linalg_det(onCuda(empty({0, 0}, GetParam()))))).toDouble(), 1);
}

TEST_P(CudaLinalgTest, FactorsGiveTheMatrix) {
  const Tensor positive_ones = positive({2, 40, 40});
  for (const bool upper : {false, true}) {
    expectClose(linalg_cholesky(onCuda(positive_ones), upper), linalg_cholesky(positive_ones, upper));
  }
  for (const auto& [m, n] : {std::pair<int64_t, int64_t>{30, 20}, {20, 30}, {40, 40}}) {
    const Tensor a = randomOf({2, m, n});
    for (const char* mode : {"reduced", "complete"}) {
      const auto [q, r] = linalg_qr(onCuda(a), mode);
      expectClose(contiguous(matmul(q, r)), contiguous(a));
      expectClose(r, std::get<1>(linalg_qr(a, mode)));
    }
    for (const bool full : {false, true}) {
      const auto [u, s, vh] = linalg_svd(onCuda(a), full);
      const int64_t k = std::min(m, n);
      const Tensor scaled = mul(slice(u, -1, 0, k), unsqueeze(s, -2));
      expectClose(contiguous(matmul(scaled, slice(vh, -2, 0, k))), contiguous(a));
      expectClose(s, linalg_svdvals(a));
      EXPECT_EQ(stridesOf(vh), stridesOf(std::get<2>(linalg_svd(a, full))));
    }
    expectClose(linalg_svdvals(onCuda(a)), linalg_svdvals(a));
  }
  const auto [values, vectors] = linalg_eigh(onCuda(positive_ones));
  expectClose(values, linalg_eigvalsh(positive_ones));
  expectClose(contiguous(matmul(onCuda(positive_ones), vectors)),
              contiguous(onHost(mul(vectors, unsqueeze(values, -2)))));
}

INSTANTIATE_TEST_SUITE_P(Types, CudaLinalgTest, testing::ValuesIn(kTypes),
                         [](const auto& parameter) { return std::string(dtypeName(parameter.param)); });

TEST(CudaLinalg, InfosStayOnTheDevice) {
  const Tensor a = onCuda(floats({1, 2, 2, 4, 1, 0, 0, 1}, {2, 2, 2}));
  std::optional<cuda::NoWaiting> no_waiting(std::in_place);
  const auto [inverse, info] = linalg_inv_ex(a);
  const auto [factor, minor] = linalg_cholesky_ex(neg(a));
  no_waiting.reset();
  EXPECT_EQ(info.device(), kCuda);
  EXPECT_EQ(elements<int32_t>(onHost(info)), (std::vector<int32_t>{2, 0}));
  EXPECT_EQ(elements<int32_t>(onHost(minor)), (std::vector<int32_t>{1, 1}));
}

TEST(CudaLinalg, FailuresAreThoseOfTheCpu) {
  const Tensor singular = floats({1, 0, 0, 1, 1, 2, 2, 4}, {2, 2, 2});
  const Tensor ones_of_b = ones({2, 2, 1});
  const auto both = [](auto&& call, const Tensor& a, const Tensor& b) {
    EXPECT_NE(errorOf([&] { call(a, b); }), "no error");
    EXPECT_EQ(errorOf([&] { call(onCuda(a), onCuda(b)); }), errorOf([&] { call(a, b); }));
  };
  both([](const Tensor& a, const Tensor&) { linalg_inv(a); }, singular, ones_of_b);
  both([](const Tensor& a, const Tensor& b) { linalg_solve(a, b); }, singular, ones_of_b);
  both([](const Tensor& a, const Tensor&) { linalg_cholesky(a); }, neg(singular), ones_of_b);
  both([](const Tensor& a, const Tensor&) { cholesky(a); }, neg(singular), ones_of_b);
}

TEST(CudaLinalg, NamesTheDriverThereIs) {
  const Tensor a = onCuda(ones({2, 2}));
  EXPECT_EQ(errorOf([&] { linalg_svd(a, true, "gesvda"); }),
            "linalg.svd: there is no driver 'gesvda'; CUDA has 'gesvdj'");
  EXPECT_EQ(sizesOf(std::get<1>(linalg_svd(a, true, "gesvdj"))), std::vector<int64_t>{2});
}

}  // namespace
}  // namespace boxcar
