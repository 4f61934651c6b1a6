#include <boxcar/backends/autograd/formula_functions.h>

#include <cmath>
#include <limits>
#include <optional>
#include <span>

namespace boxcar::autograd {
namespace {

// The products of tensors that are there; an undefined tensor is zero.
Tensor productOf(const Tensor& a, const Tensor& b) {
  return a.defined() && b.defined() ? boxcar::matmul(a, b) : Tensor();
}
Tensor turned(const Tensor& matrix) { return matrix.defined() ? boxcar::transpose(matrix, -2, -1) : matrix; }
Tensor sumOfRows(const Tensor& tensor) {
  const int64_t last[] = {-1};
  return boxcar::sum(tensor, last, /*keepdim=*/true);
}

// The gradient of a softmax with these [weights].
Tensor throughSoftmax(const Tensor& weights, const Tensor& gradient) {
  return weights * (gradient - sumOfRows(weights * gradient));
}

}  // namespace

// The gradients a, b, c of those of query, key and value are a direction in which these change. The scores then change
// by [change], and what is differentiated is the product of grad_out and the change of the result,
//   w' v + w c, with w' = w * (change - sum(w * change))
GradientQuadruple attention_twice(std::span<const Tensor> grads, const Tensor& grad_out, const Tensor& query,
                                  const Tensor& key, const Tensor& value, bool is_causal,
                                  const std::optional<Tensor>& attn_mask, std::optional<double> scale) {
  const Scalar factor = scale.value_or(1.0 / std::sqrt(static_cast<double>(query.size(-1))));
  const Tensor& a = grads[0];
  const Tensor& b = grads[1];
  const Tensor& c = grads[2];
  Tensor scores = boxcar::matmul(query, turned(key)) * factor;
  if (attn_mask.has_value() && attn_mask->defined()) scores = scores + *attn_mask;
  if (is_causal) {
    const Tensor hidden =
        boxcar::triu(boxcar::ones({query.size(-2), key.size(-2)}, ScalarType::Bool, std::nullopt, query.device()), 1);
    scores = boxcar::masked_fill(scores, hidden, -std::numeric_limits<double>::infinity());
  }
  const Tensor weights = boxcar::_safe_softmax(scores, -1);
  const Tensor of_weights = boxcar::matmul(grad_out, turned(value));
  Tensor of_grad_out = productOf(weights, c);
  Tensor of_query;
  Tensor of_key;
  Tensor of_value;
  Tensor slopes = productOf(grad_out, turned(c));  // of the weights
  if (a.defined() || b.defined()) {
    const Tensor change = (productOf(a, turned(key)) + productOf(query, turned(b))) * factor;
    const Tensor moved = change - sumOfRows(weights * change);
    const Tensor of_change = throughSoftmax(weights, of_weights) * factor;
    of_grad_out = boxcar::matmul(weights * moved, value) + of_grad_out;
    of_value = boxcar::matmul(turned(weights * moved), grad_out);
    of_query = productOf(of_change, b);
    of_key = productOf(turned(of_change), a);
    slopes = moved * of_weights - change * sumOfRows(weights * of_weights) + slopes;
  }
  if (slopes.defined()) {
    const Tensor of_scores = throughSoftmax(weights, slopes) * factor;
    of_query = boxcar::matmul(of_scores, key) + of_query;
    of_key = boxcar::matmul(turned(of_scores), query) + of_key;
  }
  return {of_grad_out, of_query, of_key, of_value};
}

}  // namespace boxcar::autograd
