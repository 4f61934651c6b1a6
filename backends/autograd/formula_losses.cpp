#include <boxcar/backends/autograd/formula_functions.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <complex>

// Functions of formulas of networks and losses.

namespace boxcar::autograd {
namespace {

// As the operators of losses number them.
enum Reduction : int64_t { kNone = 0, kMean = 1, kSum = 2 };

}  // namespace

Tensor imaginary(const Tensor& x) { return boxcar::complex(boxcar::zeros_like(x), x); }

double dropout_scale(double p, std::optional<bool> train) {
  if (!train.value_or(true)) return 1;
  return p == 1 ? 0 : 1 / (1 - p);
}

std::vector<int64_t> channels(const Tensor& x) { return {x.size(1)}; }

Tensor of_loss(const Tensor& grad, int64_t reduction, const Tensor& self) {
  return reduction == kMean ? grad / self.numel() : grad;
}

Tensor smooth_l1_slope(const Tensor& difference, double beta) {
  Tensor sign = boxcar::sign(difference);
  if (beta == 0) return sign;
  return boxcar::where(boxcar::abs(difference) < beta, difference / beta, sign);
}

Tensor nll_loss_self(const Tensor& grad, std::span<const int64_t> sizes, const Tensor& target,
                     const std::optional<Tensor>& weight, int64_t reduction, int64_t ignore_index,
                     const Tensor& total_weight) {
  const Tensor is_ignored = boxcar::eq(target, ignore_index);
  const Tensor classes = boxcar::masked_fill(target, is_ignored, 0);
  Tensor each = boxcar::expand(reduction == kMean ? grad / total_weight : grad, target.sizes());
  if (weight.has_value() && weight->defined()) each = each * boxcar::index_select(*weight, 0, boxcar::flatten(classes));
  each = boxcar::masked_fill(boxcar::neg(each), is_ignored, 0);
  const Tensor zeros = boxcar::new_zeros(grad, sizes);
  const int64_t dim = std::ssize(sizes) - 1;
  return boxcar::scatter(zeros, dim, boxcar::unsqueeze(classes, -1), boxcar::unsqueeze(each, -1));
}

}  // namespace boxcar::autograd
