#include <boxcar/backends/meta/spatial.h>
#include <boxcar/backends/native/attention.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>

#include <cmath>
#include <limits>
#include <optional>

namespace boxcar::composite {
namespace {

using OptionalTensor = std::optional<Tensor>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void checkArguments(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& mask, bool is_causal) {
  for (const Tensor* tensor : {&query, &key, &value}) {
    BOXCAR_CHECK(tensor->dim() >= 2,
                 "scaled_dot_product_attention: query, key and value must have 2 dimensions or more, but one has sizes "
                 "{}",
                 meta::listOf(tensor->sizes()));
    BOXCAR_CHECK(tensor->scalar_type() == query.scalar_type() && tensor->is_floating_point(),
                 "scaled_dot_product_attention: expected query, key and value to have the same floating point dtype, "
                 "but got {}, {} and {}",
                 dtypeName(query.scalar_type()), dtypeName(key.scalar_type()), dtypeName(value.scalar_type()));
  }
  BOXCAR_CHECK(
      query.sizes().back() == key.sizes().back(),
      "scaled_dot_product_attention: query and key must have the same last size, but they have sizes {} and {}",
      meta::listOf(query.sizes()), meta::listOf(key.sizes()));
  BOXCAR_CHECK(key.size(-2) == value.size(-2),
               "scaled_dot_product_attention: key and value must be as many, but they have sizes {} and {}",
               meta::listOf(key.sizes()), meta::listOf(value.sizes()));
  if (!mask.defined()) return;
  BOXCAR_CHECK(!is_causal, "scaled_dot_product_attention: attn_mask should not be set when is_causal is true");
  BOXCAR_CHECK(
      mask.scalar_type() == ScalarType::Bool || mask.scalar_type() == query.scalar_type(),
      "scaled_dot_product_attention: expected attn_mask to be of bool or of the query's dtype {}, but it is of "
      "{}",
      dtypeName(query.scalar_type()), dtypeName(mask.scalar_type()));
}

// Returns 0 where [allowed], else minus infinity.
Tensor biasOf(const Tensor& allowed, ScalarType dtype) {
  return boxcar::to(boxcar::where(allowed, 0.0, -kInfinity), dtype);
}

// Returns the causal bias: a query may attend to keys with the same or a smaller index.
Tensor causalBias(const Tensor& query, const Tensor& key) {
  const auto count = [&](const Tensor& tensor) {
    return boxcar::arange(tensor.size(-2), ScalarType::Long, std::nullopt, query.device());
  };
  return biasOf(boxcar::ge(boxcar::unsqueeze(count(query), -1), count(key)), query.scalar_type());
}

// Returns how many query heads share one head of [tensor], which holds keys or values.
int64_t sharedHeads(const Tensor& query, const Tensor& tensor) {
  BOXCAR_CHECK(
      query.dim() >= 3 && tensor.dim() >= 3,
      "scaled_dot_product_attention: enable_gqa needs tensors of 3 dimensions or more, but got sizes {} and {}",
      meta::listOf(query.sizes()), meta::listOf(tensor.sizes()));
  const int64_t heads = query.size(-3);
  const int64_t own = tensor.size(-3);
  if (heads == 0) return 1;
  BOXCAR_CHECK(own > 0 && heads % own == 0,
               "scaled_dot_product_attention: the number of heads of the query, {}, must be a multiple of that of key "
               "and value, {}",
               heads, own);
  return heads / own;
}

// Returns [tensor], keys or values, as seen by queries that share heads: if there are no query heads, none of its heads
// are left.
Tensor seenBy(const Tensor& query, const Tensor& tensor) {
  return query.size(-3) == 0 ? boxcar::narrow(tensor, -3, 0, 0) : tensor;
}

// Stacks each [count] heads of [tensor], [..., heads, L, E], on top of each other: [..., heads / count, count * L, E].
Tensor joinHeads(const Tensor& tensor, int64_t count) {
  if (count == 1) return tensor;
  DimVector sizes = toDimVector(tensor.sizes());
  const size_t rank = sizes.size();
  sizes[rank - 3] /= count;
  sizes[rank - 2] *= count;
  return boxcar::reshape(tensor, sizes);
}
Tensor splitHeads(const Tensor& tensor, int64_t count) {
  if (count == 1) return tensor;
  DimVector sizes = toDimVector(tensor.sizes());
  const size_t rank = sizes.size();
  sizes[rank - 3] *= count;
  sizes[rank - 2] /= count;
  return boxcar::reshape(tensor, sizes);
}

// Queries share keys and values without copying these: the query heads are stacked on top of each other.
Tensor attend(const Tensor& query, const Tensor& all_keys, const Tensor& all_values, const Tensor& mask,
              double dropout_p, bool is_causal, double scale, bool enable_gqa) {
  const int64_t share_key = enable_gqa ? sharedHeads(query, all_keys) : 1;
  const int64_t share_value = enable_gqa ? sharedHeads(query, all_values) : 1;
  const Tensor key = enable_gqa ? seenBy(query, all_keys) : all_keys;
  const Tensor value = enable_gqa ? seenBy(query, all_values) : all_values;
  // Scales the queries, which are fewer than the scores.
  const Tensor scaled = joinHeads(boxcar::mul(query, scale), share_key);
  Tensor scores = splitHeads(boxcar::matmul(scaled, boxcar::transpose(key, -2, -1)), share_key);
  if (is_causal) boxcar::add_(scores, causalBias(query, key));
  Tensor hidden;  // the queries that may attend to no key
  if (mask.defined()) {
    boxcar::add_(scores, mask.scalar_type() == ScalarType::Bool ? biasOf(mask, scores.scalar_type()) : mask);
    const int64_t last[] = {-1};
    if (scores.sizes().back() > 0) hidden = boxcar::eq(boxcar::amax(scores, last, /*keepdim=*/true), -kInfinity);
  }
  Tensor weights = boxcar::softmax(scores, -1);
  if (dropout_p > 0) weights = boxcar::dropout(weights, dropout_p, /*train=*/true);
  const Tensor result = splitHeads(boxcar::matmul(joinHeads(weights, share_value), value), share_value);
  return hidden.defined() ? boxcar::where(hidden, boxcar::zeros_like(result), result) : result;
}

Tensor scaledDotProductAttention(const Tensor& query, const Tensor& key, const Tensor& value,
                                 const OptionalTensor& attn_mask, double dropout_p, bool is_causal,
                                 std::optional<double> scale, bool enable_gqa) {
  const Tensor mask = attn_mask.value_or(Tensor());
  checkArguments(query, key, value, mask, is_causal);
  const double factor = scale.value_or(1.0 / std::sqrt(static_cast<double>(query.sizes().back())));
  const ScalarType type = query.scalar_type();
  if (type != ScalarType::Half && type != ScalarType::BFloat16) {
    return attend(query, key, value, mask, dropout_p, is_causal, factor, enable_gqa);
  }
  const bool is_plain = dropout_p <= 0 && !query.requires_grad() && !key.requires_grad() && !value.requires_grad() &&
                        !(mask.defined() && mask.requires_grad());
  if (is_plain && query.device() == key.device() && query.device() == value.device() &&
      (!mask.defined() || mask.device() == query.device())) {
    const Tensor result = native::attendAtOnce(query.device(), query, key, value, mask, is_causal, factor, enable_gqa);
    if (result.defined()) return result;
  }
  const auto widen = [](const Tensor& tensor) { return boxcar::to(tensor, ScalarType::Float); };
  const Tensor wide_mask = mask.defined() && mask.scalar_type() != ScalarType::Bool ? widen(mask) : mask;
  return boxcar::to(attend(widen(query), widen(key), widen(value), wide_mask, dropout_p, is_causal, factor, enable_gqa),
                    type);
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) {
  m.impl("scaled_dot_product_attention", BOXCAR_FN(scaledDotProductAttention));
}

}  // namespace boxcar::composite
