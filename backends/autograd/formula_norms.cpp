#include <boxcar/backends/autograd/formula_functions.h>
#include <boxcar/backends/autograd/formula_linalg.h>
#include <boxcar/backends/meta/dims.h>

#include <algorithm>
#include <cmath>

// Functions of formulas of norms, distances and Fourier transforms.

namespace boxcar::autograd {
namespace {

// x, with ones instead of zeros: what is divided by it, or its power, is then masked, and no derivative is NaN.
Tensor withoutZeros(const Tensor& x, const Tensor& is_zero) { return boxcar::masked_fill(x, is_zero, 1); }

// Returns [half], the frequencies of real lines of [length] along [dim], those times [factor] that stand for two.
Tensor weighted(const Tensor& half, int64_t dim, int64_t length, double factor) {
  const int64_t kept = half.size(dim);
  const int64_t mirrored = length - kept;
  if (mirrored <= 0) return half;
  Tensor weights = boxcar::ones({kept}, toRealValueType(half.scalar_type()), std::nullopt, half.device());
  Tensor middle = boxcar::narrow(weights, 0, 1, mirrored);
  boxcar::fill_(middle, factor);
  DimVector sizes(static_cast<size_t>(half.dim() - dim), 1);
  sizes[0] = kept;
  return half * boxcar::reshape(weights, sizes);
}

}  // namespace

Tensor norm_self(const Tensor& grad, const Tensor& given, const std::optional<Scalar>& order, const Tensor& result,
                 std::optional<std::span<const int64_t>> dims, bool keepdim) {
  const double p = order.has_value() ? order->toDouble() : 2;
  if (p == 0) return {};
  const ScalarType real = result.scalar_type();
  const ScalarType type = given.is_complex() ? toComplexType(real) : real;
  const Tensor self = given.scalar_type() == type ? given : boxcar::to(given, type);
  // With dimensions of size 1 where it was reduced.
  const auto kept = [&](const Tensor& reduced_tensor) {
    if (keepdim || self.dim() == 0) return reduced_tensor;
    DimVector sizes = toDimVector(self.sizes());
    const bool is_whole = !dims.has_value() || dims->empty();
    if (is_whole) std::ranges::fill(sizes, 1);
    for (const int64_t dim : dims.value_or(std::span<const int64_t>())) {
      sizes[static_cast<size_t>(wrapDimension(dim, self.dim()))] = 1;
    }
    return boxcar::reshape(reduced_tensor, sizes);
  };
  const Tensor each = kept(grad);
  if (p == 1) return boxcar::sgn(self) * each;
  const Tensor norm = kept(result);
  const Tensor is_zero = boxcar::eq(norm, 0);
  if (p == 2) {
    if (isDifferentiated()) return each * boxcar::masked_fill(self / norm, is_zero, 0);
    // The same with less memory. Its derivative at zero is 0, and should be NaN.
    return self / withoutZeros(norm, is_zero) * boxcar::masked_fill(each, is_zero, 0);
  }
  const Tensor size = boxcar::abs(self);
  if (std::isinf(p)) {
    const Tensor is_extreme = boxcar::logical_or(boxcar::eq(size, norm), boxcar::isnan(size));
    const bool is_whole = !dims.has_value() || dims->empty() || self.dim() == 0;
    const Tensor count = is_whole ? boxcar::sum(is_extreme) : boxcar::sum(is_extreme, IntArrayRef(*dims), true);
    return boxcar::sgn(self) * (each / count * is_extreme);
  }
  if (p < 1) {
    const Tensor powers = boxcar::masked_fill(boxcar::pow(size, p - 1), boxcar::eq(self, 0), 0);
    return boxcar::sgn(self) * powers * (each * boxcar::pow(norm, 1 - p));
  }
  const Tensor scale = boxcar::masked_fill(each / boxcar::pow(norm, p - 1), is_zero, 0);
  if (p < 2) return boxcar::sgn(self) * boxcar::pow(size, p - 1) * scale;
  return self * (p == 3 ? size : boxcar::pow(size, p - 2)) * scale;
}

Tensor renorm_self(const Tensor& grad, const Tensor& self, const Scalar& order, int64_t dim, const Scalar& maxnorm) {
  const int64_t along = wrapDimension(dim, self.dim());
  DimVector others;
  for (int64_t i = 0; i < self.dim(); ++i) {
    if (i != along) others.push_back(i);
  }
  const std::span<const int64_t> all_others(others);
  const Tensor norm = boxcar::linalg_vector_norm(self, order, all_others, true);
  const Tensor products = conjugate(self) * grad;
  const Tensor of_factor = boxcar::sum(products.is_complex() ? boxcar::real(products) : products, all_others, true);
  const Tensor of_norm = norm_self(of_factor, self, order, norm, all_others, true);
  const Tensor inverse = boxcar::reciprocal(norm + 1e-7);
  return boxcar::where(norm > maxnorm, (grad - inverse * of_norm) * (inverse * maxnorm), grad);
}

Tensor cdist_rows(const Tensor& grad, const Tensor& x1, const Tensor& x2, double p, std::optional<int64_t> compute_mode,
                  const Tensor& distances) {
  // As the forward call: products lose digits where rows are near to each other, but are much quicker for many rows.
  const int64_t mode = compute_mode.value_or(0);
  const bool is_large = distances.size(-2) > 25 || distances.size(-1) > 25;
  if (p == 2 && (mode == 1 || (mode == 0 && is_large))) {
    return std::get<0>(euclidean_both(grad, x1, x2, distances));
  }
  return boxcar::_cdist_backward(grad, x1, x2, p, distances);
}

std::tuple<Tensor, Tensor> euclidean_both(const Tensor& grad, const Tensor& x1, const Tensor& x2,
                                          const Tensor& distances) {
  const Tensor is_zero = boxcar::eq(distances, 0);
  const Tensor ratio = boxcar::masked_fill(grad / withoutZeros(distances, is_zero), is_zero, 0);
  const auto rows = [](const Tensor& weights, const Tensor& x, const Tensor& others) {
    const int64_t last[] = {-1};
    return x * boxcar::sum(weights, last, true) - boxcar::matmul(weights, others);
  };
  return {rows(ratio, x1, x2), rows(boxcar::transpose(ratio, -2, -1), x2, x1)};
}

std::tuple<Tensor, Tensor, Tensor> trilinear_all(const Tensor& grad, const Tensor& i1, const Tensor& i2,
                                                 const Tensor& i3, std::span<const int64_t> expand1,
                                                 std::span<const int64_t> expand2, std::span<const int64_t> expand3,
                                                 std::span<const int64_t> sumdim, std::span<const bool> needed) {
  // A product of three, of which the gradient takes the place of one.
  std::tuple<Tensor, Tensor, Tensor> result;
  const Tensor c1 = conjugate(i1);
  const Tensor c2 = conjugate(i2);
  const Tensor c3 = conjugate(i3);
  if (needed[0]) std::get<0>(result) = boxcar::_trilinear(grad, c2, c3, sumdim, expand2, expand3, expand1);
  if (needed[1]) std::get<1>(result) = boxcar::_trilinear(c1, grad, c3, expand1, sumdim, expand3, expand2);
  if (needed[2]) std::get<2>(result) = boxcar::_trilinear(c1, c2, grad, expand1, expand2, sumdim, expand3);
  return result;
}

// Both transforms are sums over all frequencies. Those of one side stand for their conjugates, too, except the first
// and, of even lengths, the last.

Tensor fft_r2c_self(const Tensor& grad, std::span<const int64_t> dims, int64_t normalization, bool onesided,
                    std::span<const int64_t> sizes) {
  if (!onesided) return boxcar::real(boxcar::_fft_c2c(grad, dims, normalization, /*forward=*/false));
  const int64_t last = wrapDimension(dims.back(), grad.dim());
  const int64_t length = sizes[static_cast<size_t>(last)];
  return boxcar::_fft_c2r(weighted(grad, last, length, 0.5), dims, normalization, length);
}

Tensor fft_c2r_self(const Tensor& grad, std::span<const int64_t> dims, int64_t normalization) {
  const int64_t last = wrapDimension(dims.back(), grad.dim());
  return weighted(boxcar::_fft_r2c(grad, dims, normalization, /*onesided=*/true), last, grad.size(last), 2);
}

}  // namespace boxcar::autograd
