#include <boxcar/backends/autograd/formula_functions.h>
#include <boxcar/backends/meta/dims.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/storage_without_memory.h>

#include <limits>
#include <vector>

// Functions of formulas of products, cumulative reductions, moments and softmax.

namespace boxcar::autograd {
namespace {

using OptionalDims = std::optional<std::span<const int64_t>>;

Tensor flipped(const Tensor& x, int64_t dim) { return boxcar::flip(x, {dim}); }
// The sum of each element and those after it.
Tensor sumOfRest(const Tensor& x, int64_t dim) { return flipped(boxcar::cumsum(flipped(x, dim), dim), dim); }

// The product of the elements before each.
Tensor productBefore(const Tensor& x, int64_t dim) {
  const int64_t last = x.size(dim) - 1;
  const Tensor one = boxcar::ones_like(boxcar::narrow(x, dim, last, 1));
  return boxcar::cumprod(boxcar::cat({{one, boxcar::narrow(x, dim, 0, last)}}, dim), dim);
}
Tensor productOfOthers(const Tensor& x, int64_t dim) {
  return productBefore(x, dim) * flipped(productBefore(flipped(x, dim), dim), dim);
}

// Up to this length, sums over lines are products with a square matrix: they can be differentiated at zeros.
constexpr int64_t kMostSquared = 1024;

// Returns exp(self[i] - result[j]) where i <= j and 0 elsewhere, as matrices [i, j] of the lines along [dim].
Tensor sharesOfSums(const Tensor& self, const Tensor& result, int64_t dim) {
  const Tensor rows = boxcar::unsqueeze(boxcar::transpose(self, dim, -1), -1);
  const Tensor columns = boxcar::unsqueeze(boxcar::transpose(result, dim, -1), -2);
  const int64_t length = self.size(dim);
  const int64_t square[] = {length, length};
  const Tensor is_after = boxcar::triu(boxcar::ones(square, ScalarType::Bool, std::nullopt, self.device()), 0);
  const Tensor differences = rows - columns;
  return boxcar::exp(
             boxcar::where(is_after, differences,
                           boxcar::scalar_tensor(0.0, differences.scalar_type(), std::nullopt, self.device()))) *
         is_after;
}

// Returns the products of the matrices with the lines of [x] along [dim], which is then last.
Tensor timesSquare(const Tensor& matrices, const Tensor& x, int64_t dim) {
  return boxcar::squeeze(boxcar::matmul(matrices, boxcar::unsqueeze(boxcar::transpose(x, dim, -1), -1)), -1);
}

// Returns what [part] makes of the logarithms of x, which it exponentiates; a real x may be negative.
template <class Part>
Tensor weightedByLogarithms(const Tensor& x, Part&& part) {
  if (x.is_complex()) return part(boxcar::log(x));
  const double least = x.scalar_type() == ScalarType::Double ? std::numeric_limits<double>::lowest()
                                                             : std::numeric_limits<float>::lowest();
  const Tensor logarithm = boxcar::log(boxcar::abs(x));
  return part(boxcar::where(x > 0, logarithm, least)) - part(boxcar::where(x < 0, logarithm, least));
}

// False also if that is not known.
bool hasNoZero(const Tensor& x) { return !lacksElements(x) && !boxcar::item(boxcar::any(boxcar::eq(x, 0))).toBool(); }

// The gradient of a cumulative product as a sum of products, which can be differentiated where an element is 0.
Tensor cumprodByProducts(const Tensor& grad, const Tensor& self, int64_t dim) {
  const int64_t length = self.size(dim);
  std::vector<Tensor> parts;
  for (int64_t i = 0; i < length; ++i) {
    const Tensor before = boxcar::prod(boxcar::narrow(self, dim, 0, i), dim, true);
    const Tensor after = boxcar::narrow(self, dim, i + 1, length - i - 1);
    const Tensor products = boxcar::cumprod(boxcar::cat({{before, after}}, dim), dim);
    parts.push_back(sum_along(boxcar::narrow(grad, dim, i, length - i) * conjugate(products), dim));
  }
  return boxcar::cat(parts, dim);
}

}  // namespace

Tensor no_derivative(std::string_view op, std::string_view argument) {
  BOXCAR_FAIL(
      "the derivative of {} for its argument '{}' is not implemented. Compute it under no_grad, or give an argument "
      "that "
      "does not require grad",
      op, argument);
}

Tensor sum_along(const Tensor& x, int64_t dim) {
  return boxcar::sum(x, std::optional<IntArrayRef>(IntArrayRef(std::span<const int64_t>(&dim, 1))), /*keepdim=*/true);
}

Tensor reduced_tangent(const Tensor& gradients, const Tensor& tangent, OptionalDims dims, bool keepdim) {
  if (!gradients.defined()) return {};
  const Tensor changes = conjugate(gradients) * tangent;
  return dims.has_value() ? boxcar::sum(changes, std::optional<IntArrayRef>(*dims), keepdim) : boxcar::sum(changes);
}

Tensor reduced_tangent(const Tensor& gradients, const Tensor& tangent, int64_t dim, bool keepdim) {
  return reduced_tangent(gradients, tangent, std::span<const int64_t>(&dim, 1), keepdim);
}

Tensor picked(const Tensor& x, int64_t dim, const Tensor& indices, bool keepdim) {
  if (keepdim || x.dim() == 0) return boxcar::gather(x, dim, indices);
  return boxcar::squeeze(boxcar::gather(x, dim, boxcar::unsqueeze(indices, dim)), dim);
}

Tensor softmax_second(const Tensor& grad, const Tensor& grad_output, const Tensor& output, int64_t dim) {
  return grad * (grad_output - sum_along(grad_output * output, dim)) - grad_output * sum_along(grad * output, dim);
}

Tensor prod_self(const Tensor& grad, const Tensor& self, const Tensor& result) {
  if (self.dim() == 0) return grad;
  if (self.numel() == 0) return boxcar::zeros_like(self);
  const int64_t zeros = lacksElements(self) ? 1 : self.numel() - boxcar::item(boxcar::count_nonzero(self)).toLong();
  if (zeros == 0) return grad * conjugate(result / self);
  if (zeros > 1 && !isDifferentiated()) return boxcar::zeros_like(self);
  return grad * boxcar::reshape(conjugate(productOfOthers(boxcar::reshape(self, {-1}), 0)), self.sizes());
}

Tensor prod_self(const Tensor& grad, const Tensor& self, const Tensor& result, int64_t dim, bool keepdim) {
  if (self.dim() == 0) return grad;
  if (self.numel() == 0) return boxcar::zeros_like(self);
  const Tensor of_line = keepdim ? grad : boxcar::unsqueeze(grad, dim);
  if (!hasNoZero(self)) return of_line * conjugate(productOfOthers(self, dim));
  return of_line * conjugate((keepdim ? result : boxcar::unsqueeze(result, dim)) / self);
}

Tensor cumprod_self(const Tensor& grad, const Tensor& self, int64_t dim, const Tensor& result) {
  if (self.dim() == 0 || self.numel() <= 1 || self.size(dim) == 1) return grad;
  if (hasNoZero(self)) return sumOfRest(grad * conjugate(result), dim) / conjugate(self);
  if (isDifferentiated() && (grad.requires_grad() || self.requires_grad())) {
    return cumprodByProducts(grad, self, dim);
  }
  const Tensor is_zero = boxcar::eq(self, 0);
  const Tensor zeros = boxcar::cumsum(is_zero, dim);
  const Tensor is_first_zero = boxcar::logical_and(is_zero, boxcar::eq(zeros, 1));
  // Before the first zero, the sum ends there. At it, the products are those without it. After it, all have it.
  const Tensor before = sumOfRest(grad * conjugate(result), dim) / conjugate(self);
  const Tensor without = boxcar::cumprod(boxcar::masked_fill(self, is_first_zero, 1), dim);
  const Tensor from_zero = boxcar::masked_fill(grad * conjugate(without), boxcar::eq(zeros, 0), 0);
  const Tensor at_zero = boxcar::where(is_first_zero, sumOfRest(from_zero, dim), zero_of(grad));
  return boxcar::where(boxcar::eq(zeros, 0), before, at_zero);
}

Tensor logcumsumexp_self(const Tensor& grad, const Tensor& self, const Tensor& result, int64_t dim) {
  if (self.dim() == 0 || self.numel() == 0) return grad;
  // The sum of grad * exp(self - result) over what comes later.
  if (isDifferentiated() && self.size(dim) <= kMostSquared) {
    return boxcar::transpose(timesSquare(conjugate(sharesOfSums(self, result, dim)), grad, dim), dim, -1);
  }
  return conjugate(weightedByLogarithms(conjugate(grad), [&](const Tensor& log_grad) {
    const Tensor rest = boxcar::logcumsumexp(flipped(log_grad - result, dim), dim);
    return boxcar::exp(flipped(rest, dim) + self);
  }));
}

Tensor logcumsumexp_tangent(const Tensor& tangent, const Tensor& self, const Tensor& result, int64_t dim) {
  if (self.dim() == 0 || self.numel() == 0) return tangent;
  // The sum of tangent * exp(self - result) over what comes before.
  if (self.size(dim) <= kMostSquared) {
    const Tensor shares = boxcar::transpose(sharesOfSums(self, result, dim), -2, -1);
    return boxcar::transpose(timesSquare(shares, tangent, dim), dim, -1);
  }
  return weightedByLogarithms(tangent, [&](const Tensor& log_tangent) {
    return boxcar::exp(boxcar::logcumsumexp(log_tangent + self, dim) - result);
  });
}

Tensor aminmax_self(const Tensor& grad_min, const Tensor& grad_max, const Tensor& self, const Tensor& min,
                    const Tensor& max, std::optional<int64_t> dim, bool keepdim) {
  const OptionalDims dims = dim.has_value() ? OptionalDims(std::span<const int64_t>(&*dim, 1)) : std::nullopt;
  // As in PyTorch, a line with NaN has a gradient of NaN.
  const auto part = [&](const Tensor& grad, const Tensor& extreme) {
    if (!dims.has_value()) return to_extremes(grad, self, extreme, dims, keepdim);
    const Tensor is_extreme = boxcar::eq(self, spread(extreme, self.sizes(), dims, keepdim));
    return is_extreme * (spread(grad, self.sizes(), dims, keepdim) / boxcar::sum(is_extreme, IntArrayRef(*dims), true));
  };
  Tensor of_min;
  Tensor of_max;
  if (grad_min.defined()) of_min = part(grad_min, min);
  if (grad_max.defined()) of_max = part(grad_max, max);
  return of_min + of_max;
}

Tensor var_mean_self(const Tensor& grad_var, const Tensor& grad_mean, const Tensor& self, OptionalDims dims,
                     const std::optional<Scalar>& correction, bool keepdim) {
  Tensor of_var;
  Tensor of_mean;
  if (grad_var.defined()) of_var = var_self(grad_var, self, dims, correction, keepdim);
  if (grad_mean.defined()) {
    of_mean = spread(grad_mean, self.sizes(), dims, keepdim) / reduced(self.sizes(), dims);
  }
  return of_var + of_mean;
}

Tensor std_mean_self(const Tensor& grad_std, const Tensor& grad_mean, const Tensor& self, const Tensor& std,
                     OptionalDims dims, const std::optional<Scalar>& correction, bool keepdim) {
  Tensor grad_var;
  if (grad_std.defined()) grad_var = boxcar::masked_fill(grad_std / (std * 2), boxcar::eq(std, 0), 0);
  return var_mean_self(grad_var, grad_mean, self, dims, correction, keepdim);
}

}  // namespace boxcar::autograd
