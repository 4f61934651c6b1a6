#pragma once

#include <boxcar/ivalue/scalar.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>

// Functions of formulas of norms, distances, Fourier transforms and linear algebra. A, B, L, U, Q, R, P, S, V are the
// matrices that the operators' schemas call so. Those that return a tuple leave undefined what [needed] does not want.

namespace boxcar::autograd {

// Norms and distances (formula_norms.cpp).

Tensor norm_self(const Tensor& grad, const Tensor& self, const std::optional<Scalar>& order, const Tensor& norm,
                 std::optional<std::span<const int64_t>> dims = std::nullopt, bool keepdim = false);
Tensor renorm_self(const Tensor& grad, const Tensor& self, const Scalar& order, int64_t dim, const Scalar& maxnorm);
// The gradient of the rows [x1] of distances to the rows [x2].
Tensor cdist_rows(const Tensor& grad, const Tensor& x1, const Tensor& x2, double p, std::optional<int64_t> compute_mode,
                  const Tensor& distances);
std::tuple<Tensor, Tensor> euclidean_both(const Tensor& grad, const Tensor& x1, const Tensor& x2,
                                          const Tensor& distances);
std::tuple<Tensor, Tensor, Tensor> trilinear_all(const Tensor& grad, const Tensor& i1, const Tensor& i2,
                                                 const Tensor& i3, std::span<const int64_t> expand1,
                                                 std::span<const int64_t> expand2, std::span<const int64_t> expand3,
                                                 std::span<const int64_t> sumdim, std::span<const bool> needed);

// Fourier transforms of real numbers.

Tensor fft_r2c_self(const Tensor& grad, std::span<const int64_t> dims, int64_t normalization, bool onesided,
                    std::span<const int64_t> sizes);
Tensor fft_c2r_self(const Tensor& grad, std::span<const int64_t> dims, int64_t normalization);

// Solutions and determinants (formula_solvers.cpp). [lu] and [pivots] are the operator's own, which may be those of the
// transpose.

Tensor det_a(const Tensor& grad, const Tensor& det, const Tensor& a, const Tensor& lu, const Tensor& pivots);
Tensor slogdet_a(const Tensor& grad_sign, const Tensor& grad_logarithm, const Tensor& a, const Tensor& sign,
                 const Tensor& lu, const Tensor& pivots);
std::tuple<Tensor, Tensor> solve_both(const Tensor& grad, const Tensor& x, const Tensor& a,
                                      std::span<const int64_t> b_sizes, const Tensor& lu, const Tensor& pivots,
                                      bool left, std::span<const bool> needed);
Tensor lu_solve_lu(const Tensor& grad, const Tensor& lu, const Tensor& pivots, const Tensor& x, bool left,
                   bool adjoint);
std::tuple<Tensor, Tensor> solve_triangular_both(const Tensor& grad, const Tensor& a, const Tensor& x, bool upper,
                                                 bool left, bool unitriangular, std::span<const bool> needed);
std::tuple<Tensor, Tensor> triangular_solve_both(const Tensor& grad_x, const Tensor& grad_copy, const Tensor& a,
                                                 const Tensor& x, bool upper, bool transposed, bool unitriangular,
                                                 std::span<const bool> needed);
Tensor cholesky_self(const Tensor& grad, bool upper, const Tensor& factor);
std::tuple<Tensor, Tensor> cholesky_solve_both(const Tensor& grad, const Tensor& factor, const Tensor& x, bool upper,
                                               std::span<const bool> needed);
Tensor cholesky_inverse_self(const Tensor& grad, const Tensor& factor, bool upper, const Tensor& inverse);
Tensor pinv_self(const Tensor& grad, const Tensor& pinv, const Tensor& a);
std::tuple<Tensor, Tensor> lstsq_both(const Tensor& grad_x, const Tensor& grad_residuals, const Tensor& a,
                                      const Tensor& b, const Tensor& x, std::span<const bool> needed);

// Decompositions (formula_decompositions.cpp).

// [hermitian]: of linalg_eigh, else of linalg_eig.
Tensor eigen_a(const Tensor& grad_values, const Tensor& grad_vectors, const Tensor& values, const Tensor& vectors,
               bool hermitian);
Tensor svd_a(const Tensor& grad_u, const Tensor& grad_s, const Tensor& grad_vh, const Tensor& u, const Tensor& s,
             const Tensor& vh);
Tensor qr_a(const Tensor& grad_q, const Tensor& grad_r, const Tensor& q, const Tensor& r, std::string_view mode);
Tensor lu_a(const Tensor& grad_l, const Tensor& grad_u, const Tensor& p, const Tensor& l, const Tensor& u);
Tensor lu_factor_a(const Tensor& grad, const Tensor& lu, const Tensor& pivots);
Tensor lu_unpack_data(const Tensor& grad_l, const Tensor& grad_u, std::span<const int64_t> sizes);
Tensor polar_a(const Tensor& grad_u, const Tensor& grad_h, const Tensor& u, const Tensor& h);
Tensor matrix_sqrth_self(const Tensor& grad, const Tensor& self);
std::tuple<Tensor, Tensor> householder_both(const Tensor& grad, const Tensor& input, const Tensor& tau);
std::tuple<Tensor, Tensor, Tensor> ormqr_all(const Tensor& grad, const Tensor& self, const Tensor& tau,
                                             const Tensor& other, bool left, bool transposed,
                                             std::span<const bool> needed);

}  // namespace boxcar::autograd
