#include <boxcar/backends/autograd/autograd.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <ostream>
#include <string_view>
#include <tuple>

#include "tests/backends/autograd/gradient_check.h"
#include "tests/backends/tensor_helpers.h"

// Formulas of norms, distances, Fourier transforms and linear algebra.

namespace boxcar::autograd {
namespace {

using Inputs = std::vector<Tensor>;
using Sizes = std::vector<std::vector<int64_t>>;

constexpr double kInf = std::numeric_limits<double>::infinity();

// Different float64 numbers between -1.1 and 1.1; square matrices are regular.
Tensor numbersOf(IntArrayRef sizes, double first) {
  Tensor numbers = add(arange(numelOf(sizes), ScalarType::Double), first);
  numbers = mul(sin(mul(numbers, numbers)), 1.1);
  numbers = reshape(numbers, sizes);
  if (sizes.size() >= 2 && sizes.end()[-1] == sizes.end()[-2]) {
    numbers = add(numbers, mul(eye(sizes.back(), ScalarType::Double), 3));
  }
  return numbers.set_requires_grad(true);
}

Inputs inputsOf(const Sizes& sizes) {
  Inputs inputs;
  for (const auto& each : sizes) inputs.push_back(numbersOf(each, 1.5 + 3.1 * static_cast<double>(inputs.size())));
  return inputs;
}

Tensor realOf(const Tensor& x) { return x.is_complex() ? view_as_real(resolve_conj(x)) : x; }

// [function] of complex numbers, as one of their real and imaginary parts.
Differentiable ofParts(const Differentiable& function) {
  return [function](const Inputs& parts) {
    Inputs inputs;
    for (size_t i = 0; i < parts.size(); i += 2) inputs.push_back(complex(parts[i], parts[i + 1]));
    return realOf(function(inputs));
  };
}

// The gradients of [function], whose derivative is its second one.
Differentiable gradientsOf(const Differentiable& function) {
  return [function](const Inputs& inputs) {
    const AutoGradMode recorded(true);
    const Tensor output = function(inputs);
    const Tensor weights = reshape(cos(arange(output.numel(), ScalarType::Double)), output.sizes());
    Inputs gradients;
    for (const Tensor& gradient : grad({{output}}, inputs, {{weights}}, true, true, true)) {
      if (gradient.defined()) gradients.push_back(flatten(gradient));
    }
    return cat(gradients);
  };
}

// What is checked besides the gradients of real numbers.
enum Checks : uint8_t { kReal = 0, kComplex = 1, kSecond = 2, kAll = 3 };

struct LinalgCase {
  const char* name;
  Differentiable function;
  Sizes sizes;
  uint8_t checks = kAll;
};
std::ostream& operator<<(std::ostream& stream, const LinalgCase& tested) { return stream << tested.name; }

class LinalgFormulas : public testing::TestWithParam<LinalgCase> {};

TEST_P(LinalgFormulas, GiveTheGradientsThatFiniteDifferencesGive) {
  const LinalgCase& tested = GetParam();
  EXPECT_EQ(gradientMismatch(tested.function, inputsOf(tested.sizes)), "");
  if ((tested.checks & kSecond) != 0) {
    EXPECT_EQ(gradientMismatch(gradientsOf(tested.function), inputsOf(tested.sizes)), "") << "second derivative";
  }
  if ((tested.checks & kComplex) == 0) return;
  Sizes sizes;
  for (const auto& each : tested.sizes) sizes.insert(sizes.end(), {each, each});
  EXPECT_EQ(gradientMismatch(ofParts(tested.function), inputsOf(sizes)), "") << "complex";
  if ((tested.checks & kSecond) != 0) {
    EXPECT_EQ(gradientMismatch(gradientsOf(ofParts(tested.function)), inputsOf(sizes)), "") << "complex, second";
  }
}

Tensor hermitian(const Tensor& x) { return add(x, adjoint(x)); }
Tensor positiveDefinite(const Tensor& x) { return matmul(x, adjoint(x)); }
Tensor both(const Tensor& a, const Tensor& b) { return cat({{flatten(a), flatten(b)}}); }

Differentiable vectorNorm(double order) {
  return [=](const Inputs& x) { return linalg_vector_norm(x[0], order, {{1}}); };
}
Differentiable renormOf(double order) {
  return [=](const Inputs& x) { return renorm(x[0], order, 1, 1.2); };
}
Differentiable cdistOf(double p, std::optional<int64_t> mode = std::nullopt) {
  return [=](const Inputs& x) { return cdist(x[0], x[1], p, mode); };
}
Differentiable pdistOf(double p) {
  return [=](const Inputs& x) { return pdist(x[0], p); };
}
Differentiable solveOf(bool left) {
  return [=](const Inputs& x) { return linalg_solve(x[0], x[1], left); };
}
Differentiable luSolveOf(bool left, bool adjoint) {
  return [=](const Inputs& x) {
    const auto [lu, pivots] = linalg_lu_factor(x[0]);
    return linalg_lu_solve(lu, pivots, x[1], left, adjoint);
  };
}
Differentiable triangularSolveOf(bool upper, bool transposed, bool unitriangular) {
  return [=](const Inputs& x) {
    const auto [solution, copy] = triangular_solve(x[0], x[1], upper, transposed, unitriangular);
    return both(solution, copy);
  };
}
Differentiable ormqrOf(bool left, bool transposed) {
  return [=](const Inputs& x) { return ormqr(x[0], x[1], x[2], left, transposed); };
}
Tensor luOf(const Inputs& x) {
  const auto [p, l, u] = linalg_lu(x[0]);
  return both(l, u);
}
Tensor luFactorOf(const Inputs& x) { return std::get<0>(linalg_lu_factor(x[0])); }
Tensor qrOf(const Inputs& x) {
  const auto [q, r] = linalg_qr(x[0]);
  return both(q, r);
}
// Of these decompositions, what does not depend on the vectors' phases.
Tensor svdOf(const Inputs& x) {
  const auto [u, s, vh] = linalg_svd(x[0], /*full_matrices=*/false);
  return both(mul(abs(u), unsqueeze(exp(s), -2)), abs(vh));
}
Tensor fullSvdOf(const Inputs& x) {
  const auto [u, s, vh] = linalg_svd(x[0], /*full_matrices=*/true);
  const int64_t k = s.size(-1);
  return matmul(mul(narrow(u, -1, 0, k), unsqueeze(exp(s), -2)), narrow(vh, -2, 0, k));
}

const LinalgCase kLinalgCases[] = {
    {"vector_norm_half", vectorNorm(0.5), {{2, 3}}},
    {"vector_norm_1", vectorNorm(1), {{2, 3}}},
    {"vector_norm_1_5", vectorNorm(1.5), {{2, 3}}},
    {"vector_norm_2", vectorNorm(2), {{2, 3}}},
    {"vector_norm_3", vectorNorm(3), {{2, 3}}},
    {"vector_norm_inf", vectorNorm(kInf), {{2, 3}}},
    {"vector_norm_minus_inf", vectorNorm(-kInf), {{2, 3}}},
    {"vector_norm_minus_1", vectorNorm(-1), {{2, 3}}},
    {"vector_norm_whole", [](const Inputs& x) { return linalg_vector_norm(x[0], 3); }, {{2, 3}}},
    {"vector_norm_keepdim",
     [](const Inputs& x) {
       return linalg_vector_norm(x[0], 2, {{0, 2}}, true);
     },
     {{2, 3, 2}}},
    {"norm", [](const Inputs& x) { return norm(x[0], 3); }, {{2, 3}}},
    {"norm_dim", [](const Inputs& x) { return norm(x[0], 1.5, std::vector<int64_t>{1}); }, {{2, 3}}},
    {"nuclear_norm", [](const Inputs& x) { return linalg_norm(x[0], std::string_view("nuc")); }, {{2, 3}}},
    {"dist", [](const Inputs& x) { return dist(x[0], x[1], 3); }, {{2, 3}, {3}}},
    {"renorm_1", renormOf(1), {{2, 3, 2}}},
    {"renorm_2", renormOf(2), {{2, 3, 2}}},
    {"renorm_inf", renormOf(kInf), {{2, 3, 2}}},
    {"cdist_half", cdistOf(0.5), {{2, 3}, {4, 3}}, kSecond},
    {"cdist_1", cdistOf(1), {{2, 3}, {4, 3}}, kSecond},
    {"cdist_1_5", cdistOf(1.5), {{2, 3}, {4, 3}}, kSecond},
    {"cdist_2", cdistOf(2), {{2, 2, 3}, {4, 3}}, kSecond},
    {"cdist_by_product", cdistOf(2, 1), {{2, 3}, {2, 4, 3}}, kSecond},
    {"cdist_3", cdistOf(3), {{2, 3}, {4, 3}}, kSecond},
    {"cdist_inf", cdistOf(kInf), {{2, 3}, {4, 3}}, kSecond},
    {"pdist_1_5", pdistOf(1.5), {{4, 3}}, kSecond},
    {"pdist_2", pdistOf(2), {{4, 3}}, kSecond},
    {"euclidean_dist", [](const Inputs& x) { return _euclidean_dist(x[0], x[1]); }, {{2, 3}, {4, 3}}, kSecond},
    {"cosine_similarity", [](const Inputs& x) { return cosine_similarity(x[0], x[1]); }, {{2, 3}, {2, 3}}, kSecond},
    {"trilinear",
     [](const Inputs& x) {
       return _trilinear(x[0], x[1], x[2], {1, 3}, {0}, {1, 2}, {2, 3});
     },
     {{2, 5}, {4, 5, 3}, {2, 3}}},
    {"fft", [](const Inputs& x) { return realOf(fft_fft(square(x[0]), {}, 0, "ortho")); }, {{3, 2}}},
    {"irfft_even",
     [](const Inputs& x) { return fft_irfft(complex(square(x[0]), square(x[1])), 4, 0); },
     {{3, 2}, {3, 2}},
     kSecond},
    {"irfftn_odd",
     [](const Inputs& x) {
       return fft_irfftn(complex(square(x[0]), square(x[1])), {{2, 5}}, {{1, 0}});
     },
     {{3, 2}, {3, 2}},
     kSecond},
    {"rfft_even", [](const Inputs& x) { return realOf(fft_rfft(square(x[0]), 4, 0)); }, {{4, 2}}, kSecond},
    {"rfft_odd", [](const Inputs& x) { return realOf(fft_rfft(square(x[0]), 5, 0)); }, {{5, 2}}, kSecond},
    {"rfft2", [](const Inputs& x) { return realOf(fft_rfft2(square(x[0]))); }, {{3, 4}}, kSecond},
    {"r2c_both_sides",
     [](const Inputs& x) { return realOf(_fft_r2c(square(x[0]), {0}, 0, false)); },
     {{4, 2}},
     kSecond},
    {"addbmm", [](const Inputs& x) { return addbmm(x[0], x[1], x[2], 2, 3); }, {{4}, {2, 3, 2}, {2, 2, 4}}},
    {"cross", [](const Inputs& x) { return linalg_cross(x[0], x[1]); }, {{2, 3}, {1, 3}}},
    {"trace", [](const Inputs& x) { return mul(trace(x[0]), trace(x[0])); }, {{4, 3}}},
    {"inv", [](const Inputs& x) { return linalg_inv(x[0]); }, {{2, 2, 2}}},
    {"det", [](const Inputs& x) { return linalg_det(x[0]); }, {{2, 3, 3}}},
    {"det_of_transposed", [](const Inputs& x) { return det(t(x[0])); }, {{3, 3}}},
    {"slogdet",
     [](const Inputs& x) {
       const auto [sign, logarithm] = linalg_slogdet(x[0]);
       return mul(sign, logarithm);
     },
     {{2, 2, 2}}},
    {"logdet", [](const Inputs& x) { return logdet(positiveDefinite(x[0])); }, {{2, 2}}},
    {"solve_left", solveOf(true), {{2, 2, 2}, {2, 3}}},
    {"solve_right", solveOf(false), {{2, 2}, {2, 3, 2}}},
    {"solve_vectors", solveOf(true), {{3, 2, 2}, {3, 2}}},
    {"solve_vector", solveOf(true), {{3, 2, 2}, {2}}},
    {"solve_triangular",
     [](const Inputs& x) { return linalg_solve_triangular(x[0], x[1], /*upper=*/true); },
     {{3, 3}, {2, 3, 2}}},
    {"solve_unitriangular",
     [](const Inputs& x) { return linalg_solve_triangular(x[0], x[1], false, false, true); },
     {{2, 3, 3}, {2, 3}}},
    {"triangular_solve", triangularSolveOf(true, false, false), {{3, 2}, {3, 3}}},
    {"triangular_solve_transposed", triangularSolveOf(false, true, true), {{3, 2}, {3, 3}}},
    {"cholesky", [](const Inputs& x) { return linalg_cholesky(positiveDefinite(x[0])); }, {{2, 2, 2}}},
    {"cholesky_upper", [](const Inputs& x) { return cholesky(positiveDefinite(x[0]), true); }, {{3, 3}}},
    {"cholesky_solve",
     [](const Inputs& x) { return cholesky_solve(x[0], linalg_cholesky(positiveDefinite(x[1])), false); },
     {{2, 3}, {2, 2}}},
    {"cholesky_inverse",
     [](const Inputs& x) { return cholesky_inverse(linalg_cholesky(positiveDefinite(x[0]), true), true); },
     {{2, 2}}},
    {"lu", luOf, {{3, 3}}},
    {"lu_tall", luOf, {{3, 2}}},
    {"lu_wide", luOf, {{2, 3}}},
    {"lu_factor_tall", luFactorOf, {{3, 2}}},
    {"lu_factor_wide", luFactorOf, {{2, 2, 3}}},
    {"lu_unpack",
     [](const Inputs& x) {
       const auto [lu, pivots] = linalg_lu_factor(x[0]);
       const auto [p, l, u] = lu_unpack(lu, pivots);
       return both(l, u);
     },
     {{2, 3}}},
    {"lu_solve", luSolveOf(true, false), {{2, 2}, {3, 2, 2}}},
    {"lu_solve_adjoint", luSolveOf(true, true), {{2, 2}, {2, 3}}},
    {"lu_solve_right", luSolveOf(false, false), {{3, 2, 2}, {2, 2}}},
    {"lu_solve_right_adjoint", luSolveOf(false, true), {{2, 2}, {3, 2}}},
    {"pinv_tall", [](const Inputs& x) { return linalg_pinv(x[0], 1e-9); }, {{3, 2}}},
    {"pinv_wide", [](const Inputs& x) { return linalg_pinv(x[0], 1e-9); }, {{2, 3}}},
    {"pinv_hermitian",
     [](const Inputs& x) { return linalg_pinv(hermitian(x[0]), 1e-9, /*hermitian=*/true); },
     {{2, 2}}},
    {"lstsq", [](const Inputs& x) { return std::get<0>(linalg_lstsq(x[0], x[1])); }, {{3, 2}, {3, 2}}},
    {"lstsq_residuals",
     [](const Inputs& x) { return std::get<1>(linalg_lstsq(x[0], x[1], {}, "gels")); },
     {{3, 2}, {3, 2}}},
    {"lstsq_wide", [](const Inputs& x) { return std::get<0>(linalg_lstsq(x[0], x[1])); }, {{2, 3}, {2}}},
    {"svd", svdOf, {{2, 2}}},
    {"svd_tall", svdOf, {{3, 2}}},
    {"svd_wide", svdOf, {{2, 3}}},
    {"svd_full", fullSvdOf, {{3, 2}}},
    {"svdvals", [](const Inputs& x) { return linalg_svdvals(x[0]); }, {{2, 3}}},
    {"eigh",
     [](const Inputs& x) {
       const auto [values, vectors] = linalg_eigh(hermitian(x[0]));
       return both(mul(abs(vectors), unsqueeze(values, -2)), values);
     },
     {{3, 3}}},
    {"eigvalsh", [](const Inputs& x) { return linalg_eigvalsh(hermitian(x[0]), "U"); }, {{2, 2, 2}}},
    {"eig",
     [](const Inputs& x) {
       const auto [values, vectors] = linalg_eig(x[0]);
       return both(mul(abs(vectors), unsqueeze(abs(values), -2)), abs(values));
     },
     {{3, 3}}},
    {"eigvals", [](const Inputs& x) { return realOf(linalg_eigvals(x[0])); }, {{3, 3}}},
    {"qr", qrOf, {{2, 3, 3}}},
    {"qr_tall", qrOf, {{3, 2}}},
    {"qr_wide", qrOf, {{2, 4}}},
    {"householder", [](const Inputs& x) { return linalg_householder_product(x[0], x[1]); }, {{4, 3}, {2}}},
    {"ormqr", ormqrOf(true, false), {{4, 3}, {3}, {4, 2}}, kComplex},
    {"ormqr_transposed", ormqrOf(true, true), {{4, 3}, {3}, {4, 2}}, kComplex},
    {"ormqr_right", ormqrOf(false, false), {{4, 3}, {3}, {2, 4}}, kComplex},
    {"ormqr_right_transposed", ormqrOf(false, true), {{4, 3}, {3}, {2, 4}}, kComplex},
    {"matrix_exp", [](const Inputs& x) { return linalg_matrix_exp(div(x[0], 4)); }, {{2, 2, 2}}},
    {"matrix_exp_1", [](const Inputs& x) { return linalg_matrix_exp(x[0]); }, {{1, 1}}},
    {"polar",
     [](const Inputs& x) {
       const auto [u, h] = linalg_polar(x[0]);
       return both(u, h);
     },
     {{3, 2}}},
    {"matrix_sqrth", [](const Inputs& x) { return linalg_matrix_sqrth(positiveDefinite(x[0])); }, {{2, 2}}},
};

INSTANTIATE_TEST_SUITE_P(All, LinalgFormulas, testing::ValuesIn(kLinalgCases),
                         [](const auto& tested) { return tested.param.name; });

// Gradients at places where there is no derivative, as PyTorch defines them.

std::vector<double> gradientAt(const Differentiable& function, const Tensor& input, size_t of = 0,
                               const Tensor& other = {}) {
  Inputs inputs{clone(input).set_requires_grad(true)};
  if (other.defined()) inputs.push_back(clone(other).set_requires_grad(true));
  const Tensor gradient = grad({{sum(function(inputs))}}, {{inputs[of]}}, {}, {}, false, true)[0];
  return gradient.defined() ? elements<double>(gradient) : std::vector<double>();
}

Tensor matrix(std::initializer_list<double> values, int64_t columns) {
  return reshape(tensorOf<double>(values), {-1, columns});
}

using Numbers = std::vector<double>;

TEST(LinalgGradients, OfNormsAreZeroAtZeroAndEqualAmongTheGreatest) {
  const Tensor x = matrix({1, -2, 2, 0, 0, 0}, 3);
  EXPECT_EQ(gradientAt(vectorNorm(1), x), (Numbers{1, -1, 1, 0, 0, 0}));
  EXPECT_EQ(gradientAt(vectorNorm(kInf), x), (Numbers{0, -0.5, 0.5, 0, 0, 0}));
  EXPECT_EQ(gradientAt(vectorNorm(-kInf), x), (Numbers{1, 0, 0, 0, 0, 0}));
  EXPECT_EQ(gradientAt(vectorNorm(0), x), Numbers());
  for (const double order : {0.5, 1.5, 2., 3., -1.}) {
    const Numbers found = gradientAt(vectorNorm(order), x);
    EXPECT_EQ(Numbers(found.begin() + 3, found.end()), (Numbers{0, 0, 0})) << order;
  }
}

TEST(LinalgGradients, OfDistancesAreZeroBetweenEqualRows) {
  const Tensor x = matrix({0, 0, 1, 1, 0, 0}, 2);
  const Tensor y = matrix({0, 0, 1, 0}, 2);
  for (const double p : {1., 1.5, 2., 3., kInf}) {
    EXPECT_EQ(gradientAt(cdistOf(p), y, 0, y), (Numbers{-1, 0, 1, 0})) << p;
  }
  EXPECT_EQ(gradientAt(cdistOf(0), x, 0, y), Numbers(6, 0.));
  EXPECT_EQ(gradientAt(cdistOf(0.5), x, 0, y), (Numbers{-1, 0, 2, 3, -1, 0}));
  EXPECT_EQ(gradientAt(cdistOf(0.5), x, 1, y), (Numbers{-2, -2, 2, -1}));
  EXPECT_EQ(gradientAt(cdistOf(kInf), x, 1, y), (Numbers{-1, -1, 2, -1}));
  EXPECT_EQ(gradientAt(pdistOf(0.5), x), (Numbers{-2, -2, 4, 4, -2, -2}));
  EXPECT_EQ(gradientAt(pdistOf(kInf), x), (Numbers{-1, -1, 2, 2, -1, -1}));
  EXPECT_EQ(gradientAt(pdistOf(2), matrix({1, 2}, 2)), (Numbers{0, 0}));
}

TEST(LinalgGradients, OfManyDistancesAreThoseOfEachPair) {
  // So many that they are computed in parts.
  const Tensor x = numbersOf({300, 3}, 0.5);
  const Tensor y = numbersOf({200, 3}, 1.7);
  const Tensor gradient = grad({{sum(cdist(x, y, 3))}}, {{x}})[0];
  const Tensor last = clone(detach(narrow(x, 0, 299, 1))).set_requires_grad(true);
  EXPECT_EQ(elements<double>(narrow(gradient, 0, 299, 1)),
            elements<double>(grad({{sum(cdist(last, y, 3))}}, {{last}})[0]));
}

TEST(LinalgGradients, OfDeterminantsAreDefinedAtSingularMatrices) {
  const auto determinant = [](const Inputs& x) { return linalg_det(x[0]); };
  EXPECT_EQ(gradientAt(determinant, matrix({0, 0, 0, 0}, 2)), (Numbers{0, 0, 0, 0}));
  EXPECT_EQ(gradientAt(determinant, zeros({0, 0}, ScalarType::Double)), Numbers());
  const auto signOf = [](const Inputs& x) { return std::get<0>(linalg_slogdet(x[0])); };
  EXPECT_EQ(gradientAt(signOf, matrix({1, 2, 3, 4}, 2)), Numbers());
}

TEST(LinalgGradients, OfDeterminantsAreCofactorsWhereTheyAreDifferentiatedAgain) {
  // Both kinds of matrices in one batch.
  const Tensor x = reshape(tensorOf<double>({1, 0, 0, 0, 2, 1, 0, 3}), {2, 2, 2}).set_requires_grad(true);
  const Tensor gradient = grad({{sum(linalg_det(x))}}, {{x}}, {}, true, true)[0];
  const Tensor expected = reshape(tensorOf<double>({0, 0, 0, 1, 3, 0, -1, 2}), {2, 2, 2});
  EXPECT_TRUE(allclose(gradient, expected));
}

TEST(LinalgGradients, AreRefusedWhereTheyAreNotDefined) {
  const Tensor tall = numbersOf({4, 2}, 0.5);
  EXPECT_TRUE(errorOf([&] {
                backward({{sum(std::get<1>(linalg_qr(tall, "r")))}});
              }).starts_with("The derivative of linalg.qr depends on Q"));
  EXPECT_TRUE(errorOf([&] {
                backward({{sum(std::get<1>(linalg_qr(tall, "complete")))}});
              }).starts_with("The QR decomposition is not differentiable when mode='complete'"));
  const Tensor z = complex(numbersOf({3, 3}, 0.5), numbersOf({3, 3}, 1.1));
  EXPECT_TRUE(errorOf([&] {
                backward({{sum(real(std::get<1>(linalg_eig(z))))}});
              }).starts_with("linalg_eig_backward: The eigenvectors in the complex case"));
  EXPECT_TRUE(errorOf([&] {
                backward({{sum(real(std::get<1>(linalg_eigh(z))))}});
              }).starts_with("linalg_eigh_backward: The eigenvectors in the complex case"));
  EXPECT_TRUE(errorOf([&] {
                backward({{sum(real(std::get<0>(linalg_svd(z))))}});
              }).starts_with("svd_backward: The singular vectors in the complex case"));
  const Tensor square = numbersOf({3, 3}, 0.5);
  EXPECT_TRUE(errorOf([&] {
                backward({{sum(std::get<0>(_linalg_eigh(square, "L", false)))}});
              }).starts_with("_linalg_eigh: the derivative needs the eigenvectors"));
  EXPECT_TRUE(errorOf([&] {
                backward({{sum(std::get<1>(_linalg_svd(square, false, false)))}});
              }).starts_with("_linalg_svd: the derivative needs the singular vectors"));
}

TEST(LinalgGradients, OfFactorsWithoutFormulasAreErrors) {
  const Tensor square = numbersOf({3, 3}, 0.5);
  EXPECT_TRUE(errorOf([&] {
                backward({{sum(std::get<0>(geqrf(square)))}});
              }).starts_with("derivative for aten::geqrf is not implemented"));
  EXPECT_TRUE(errorOf([&] {
                backward({{sum(std::get<0>(linalg_ldl_factor(square)))}});
              }).starts_with("derivative for aten::linalg_ldl_factor_ex is not implemented"));
  EXPECT_FALSE(view(square, ScalarType::Long).requires_grad());
  EXPECT_FALSE(linalg_matrix_rank(square, 1e-3).requires_grad());
}

}  // namespace
}  // namespace boxcar::autograd
