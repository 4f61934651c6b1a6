#include <boxcar/backends/composite/has_derivative.h>
#include <boxcar/backends/composite/write_out.h>
#include <boxcar/backends/meta/dims.h>
#include <boxcar/backends/meta/matrices.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

// The gradients of distances between rows. They are made of differentiable operators, and so have derivatives.

namespace boxcar::composite {
namespace {

// The gradient of the first of two rows, for each [difference] of such rows in the last dimension, is a term times a
// weight for each pair.
struct PairGradients {
  Tensor terms;
  Tensor weights;
};

PairGradients ofDifferences(const Tensor& grad, const Tensor& difference, double p, const Tensor& distance) {
  if (p == 1) return {boxcar::sign(difference), grad};
  if (std::isinf(p)) {
    const Tensor is_greatest = boxcar::eq(boxcar::abs(difference), boxcar::unsqueeze(distance, -1));
    return {boxcar::mul(boxcar::sign(difference), is_greatest), grad};
  }
  // Zero where there is no difference. Ones instead of zeros keep infinity and NaN out of what is masked.
  const Tensor is_zero = boxcar::eq(distance, 0);
  const Tensor positive = boxcar::masked_fill(distance, is_zero, 1);
  const Tensor divisor = p == 2 ? positive : boxcar::pow(positive, p - 1);
  const Tensor weights = boxcar::masked_fill(boxcar::div(grad, divisor), is_zero, 0);
  if (p == 2) return {difference, weights};
  const Tensor size = boxcar::masked_fill(boxcar::abs(difference), boxcar::eq(difference, 0), 1);
  return {boxcar::mul(boxcar::sign(difference), boxcar::pow(size, p - 1)), weights};
}

Tensor cdistBackward(const Tensor& grad, const Tensor& x1, const Tensor& x2, double p, const Tensor& cdist) {
  const meta::Distances call = meta::checkCdist(x1, x2, p, std::nullopt);
  for (const Tensor* each : {&grad, &cdist}) {
    BOXCAR_CHECK(std::ranges::equal(each->sizes(), call.result),
                 "_cdist_backward: grad_output and cdist must have a number for each pair of rows, [{}], but one has "
                 "[{}]",
                 fmt::join(call.result, ", "), fmt::join(each->sizes(), ", "));
  }
  const int64_t pairs = numelOf(call.result);
  if (p == 0 || pairs == 0 || x1.size(-1) == 0) return boxcar::new_zeros(x1, call.x1);
  const Tensor others = boxcar::unsqueeze(x2, -3);
  const auto ofRows = [&](int64_t first, int64_t count) {
    const auto rows = [&](const Tensor& x) { return boxcar::narrow(x, -2, first, count); };
    const auto [terms, weights] =
        ofDifferences(rows(grad), boxcar::sub(boxcar::unsqueeze(rows(x1), -2), others), p, rows(cdist));
    return boxcar::squeeze(boxcar::matmul(boxcar::unsqueeze(weights, -2), terms), -2);
  };
  // Some rows after the other, so that their differences fit in a processor's cache. A graph would keep all anyway.
  constexpr int64_t kDifferences = 1 << 16;
  const int64_t rows = x1.size(-2);
  const bool is_recorded = hasDerivative(grad) || hasDerivative(x1) || hasDerivative(x2) || hasDerivative(cdist);
  const int64_t differences = pairs / rows * x1.size(-1);  // of a row
  const int64_t step = is_recorded || x1.is_meta() ? rows : std::max<int64_t>(kDifferences / differences, 1);
  if (step >= rows) return ofRows(0, rows);
  std::vector<Tensor> parts;
  for (int64_t first = 0; first < rows; first += step) parts.push_back(ofRows(first, std::min(step, rows - first)));
  return boxcar::cat(parts, -2);
}
Tensor& cdistBackwardOut(const Tensor& grad, const Tensor& x1, const Tensor& x2, double p, const Tensor& cdist,
                         Tensor& out) {
  return writeSameType(out, cdistBackward(grad, x1, x2, p, cdist));
}

Tensor pdistBackward(const Tensor& grad, const Tensor& self, double p, const Tensor& pdist) {
  BOXCAR_CHECK(self.dim() == 2, "_pdist_backward: self must have 2 dimensions, but it has {}", self.dim());
  const int64_t count = self.size(0);
  const int64_t pairs = count * (count - 1) / 2;
  for (const Tensor* each : {&grad, &pdist}) {
    BOXCAR_CHECK(each->dim() == 1 && each->size(0) == pairs,
                 "_pdist_backward: grad_output and pdist must have one dimension of {} numbers, one for each pair of "
                 "rows, but one has sizes [{}]",
                 pairs, fmt::join(each->sizes(), ", "));
  }
  // For each pair of rows, also in the other order, its place in the list; for a row and itself that of a zero behind.
  const Tensor both = boxcar::triu_indices(count, count, 1, ScalarType::Long, std::nullopt, self.device());
  const Tensor first = boxcar::select(both, 0, 0);
  const Tensor second = boxcar::select(both, 0, 1);
  const Tensor numbers = boxcar::arange(pairs, ScalarType::Long, std::nullopt, self.device());
  Tensor places = boxcar::full({count * count}, pairs, ScalarType::Long, std::nullopt, self.device());
  places = boxcar::scatter(places, 0, boxcar::add(boxcar::mul(first, count), second), numbers);
  places = boxcar::scatter(places, 0, boxcar::add(boxcar::mul(second, count), first), numbers);
  const auto asMatrix = [&](const Tensor& list) {
    const Tensor extended[] = {list, boxcar::new_zeros(list, {1})};
    return boxcar::reshape(boxcar::index_select(boxcar::cat(extended), 0, places), {count, count});
  };
  return boxcar::_cdist_backward(asMatrix(grad), self, self, p, asMatrix(pdist));
}
Tensor& pdistBackwardOut(const Tensor& grad, const Tensor& self, double p, const Tensor& pdist, Tensor& out) {
  return writeSameType(out, pdistBackward(grad, self, p, pdist));
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) {
  m.impl("_cdist_backward", BOXCAR_FN(cdistBackward));
  m.impl("_cdist_backward.out", BOXCAR_FN(cdistBackwardOut));
  m.impl("_pdist_backward", BOXCAR_FN(pdistBackward));
  m.impl("_pdist_backward.out", BOXCAR_FN(pdistBackwardOut));
}

}  // namespace boxcar::composite
