#include <boxcar/backends/composite/dtype.h>
#include <boxcar/backends/composite/has_derivative.h>
#include <boxcar/backends/meta/broadcast.h>
#include <boxcar/backends/meta/layout.h>
#include <boxcar/backends/meta/spatial.h>
#include <boxcar/backends/native/attention.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

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

struct Attention {
  Tensor result;
  Tensor scores;
  Tensor weights;  // the softmax of the scores, after dropout
  Tensor hidden;   // which queries may attend to no key; undefined if none

  // Returns [tensor], which has a row for each query, with zeros for hidden ones.
  Tensor withoutHidden(const Tensor& tensor) const {
    return hidden.defined() ? boxcar::where(hidden, boxcar::zeros_like(tensor), tensor) : tensor;
  }
};

// What dropout does with the weights: it draws with probability [p], or keeps those that are given, if they are.
struct Dropping {
  double p;
  Tensor kept;

  Tensor apply(const Tensor& weights) const {
    if (p <= 0) return weights;
    if (!kept.defined()) return boxcar::dropout(weights, p, /*train=*/true);
    return boxcar::masked_fill(weights, boxcar::logical_not(kept), 0);
  }
};

// Queries share keys and values without copying these: the query heads are stacked on top of each other.
Attention attend(const Tensor& query, const Tensor& all_keys, const Tensor& all_values, const Tensor& mask,
                 const Dropping& dropping, bool is_causal, double scale, bool enable_gqa) {
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
    const Tensor values = scores.requires_grad() ? boxcar::detach(scores) : scores;
    if (values.sizes().back() > 0) hidden = boxcar::eq(boxcar::amax(values, last, /*keepdim=*/true), -kInfinity);
  }
  // The softmax of a hidden query is NaN, and so would be its gradients.
  const bool has_gradients = hidden.defined() && scores.requires_grad();
  const Tensor seen = has_gradients ? boxcar::masked_fill(scores, hidden, 0) : scores;
  const Tensor weights = dropping.apply(boxcar::softmax(seen, -1));
  Attention attention{{}, std::move(scores), weights, std::move(hidden)};
  attention.result =
      attention.withoutHidden(splitHeads(boxcar::matmul(joinHeads(weights, share_value), value), share_value));
  return attention;
}

double scaleFor(const Tensor& query, std::optional<double> scale) {
  return scale.value_or(1.0 / std::sqrt(static_cast<double>(query.sizes().back())));
}

// Returns a mask of numbers in float32 if its elements are small.
Tensor widenedMask(const Tensor& mask) { return mask.defined() ? widened(mask) : mask; }

std::tuple<Tensor, Tensor> attentionOfProducts(const Tensor& query, const Tensor& key, const Tensor& value,
                                               const OptionalTensor& attn_mask, double dropout_p, bool is_causal,
                                               const OptionalTensor& dropout_mask, std::optional<double> scale,
                                               bool enable_gqa) {
  Tensor mask = attn_mask.value_or(Tensor());
  const Tensor kept = dropout_mask.value_or(Tensor());
  checkArguments(query, key, value, mask, is_causal);
  BOXCAR_CHECK(!kept.defined() || kept.scalar_type() == ScalarType::Bool,
               "scaled_dot_product_attention: expected dropout_mask to be of bool, but it is of {}",
               dtypeName(kept.scalar_type()));
  // Like PyTorch, this adds a mask of bools, too.
  if (mask.defined()) mask = converted(mask, query.scalar_type());
  // Values make up for the weights that a given mask drops; dropout itself scales the weights that it keeps.
  const bool is_given = kept.defined() && dropout_p > 0;
  const Tensor values = is_given ? boxcar::div(widened(value), 1 - dropout_p) : widened(value);
  const Attention attention = attend(widened(query), widened(key), values, widenedMask(mask), {dropout_p, kept},
                                     is_causal, scaleFor(query, scale), enable_gqa);
  const ScalarType type = query.scalar_type();
  return {converted(attention.result, type), converted(attention.withoutHidden(attention.weights), type)};
}

void checkFlash(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& mask, double dropout_p) {
  checkArguments(query, key, value, mask, /*is_causal=*/false);
  BOXCAR_CHECK(dropout_p == 0, "scaled_dot_product_attention: dropout is not supported here, but dropout_p is {}",
               dropout_p);
  for (const Tensor* tensor : {&key, &value}) {
    BOXCAR_CHECK(
        query.dim() == 4 && tensor->dim() == 4 &&
            std::ranges::equal(tensor->sizes().first(2), query.sizes().first(2)) &&
            tensor->sizes().back() == query.sizes().back(),
        "scaled_dot_product_attention: expected query, key and value of 4 dimensions with the same batch, heads "
        "and last size, but got sizes {}, {} and {}",
        meta::listOf(query.sizes()), meta::listOf(key.sizes()), meta::listOf(value.sizes()));
  }
}

// Whether the device attends by blocks. Without a query or a key there is nothing to do for it.
bool goesByBlocks(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& mask) {
  const Device device = query.device();
  return native::attendInBlocks.has(device.type()) && key.device() == device && value.device() == device &&
         (!mask.defined() || mask.device() == device) && query.numel() > 0 && key.numel() > 0;
}

// Returns a mask with the sizes of the scores.
Tensor maskOfScores(const Tensor& mask, const Tensor& query, const Tensor& key) {
  if (!mask.defined()) return mask;
  DimVector sizes = toDimVector(query.sizes());
  sizes.back() = key.size(-2);
  BOXCAR_CHECK(meta::isExpandable(mask.sizes(), sizes),
               "scaled_dot_product_attention: attn_mask of size {} does not broadcast to the scores, of {}",
               meta::listOf(mask.sizes()), meta::listOf(sizes));
  return boxcar::expand(widened(mask), sizes);
}

// The result and the sums of the exponentials have the layouts of PyTorch's.
std::tuple<Tensor, Tensor> attentionWithSums(const Tensor& query, const Tensor& key, const Tensor& value,
                                             double dropout_p, bool is_causal, const OptionalTensor& attn_mask,
                                             std::optional<double> scale) {
  const Tensor mask = attn_mask.value_or(Tensor());
  checkFlash(query, key, value, mask, dropout_p);
  BOXCAR_CHECK(!mask.defined() || (mask.scalar_type() == query.scalar_type() && (mask.dim() == 2 || mask.dim() == 4)),
               "scaled_dot_product_attention: expected attn_mask of the query's dtype {} and 2 or 4 dimensions, but it "
               "is of {} and {}",
               dtypeName(query.scalar_type()), dtypeName(mask.scalar_type()), mask.dim());
  const double factor = scaleFor(query, scale);
  const Tensor of_scores = maskOfScores(mask, query, key);
  const Tensor q = widened(query);
  const Tensor k = widened(key);
  const Tensor v = widened(value);
  Tensor out = boxcar::empty_like(q);
  Tensor sums = boxcar::transpose(
      boxcar::empty({query.size(0), query.size(2), query.size(1)}, q.scalar_type(), std::nullopt, query.device()), 1,
      2);
  if (goesByBlocks(query, key, value, mask)) {
    native::attendInBlocks(query.device(), {q, k, v, of_scores, is_causal, factor}, out, sums);
  } else if (!query.device().is_meta()) {
    const Attention attention = attend(q, k, v, widenedMask(mask), {0, {}}, is_causal, factor, /*enable_gqa=*/false);
    const int64_t last[] = {-1};
    boxcar::copy_(out, attention.result);
    boxcar::copy_(sums, boxcar::squeeze(
                            attention.withoutHidden(boxcar::logsumexp(attention.scores, last, /*keepdim=*/true)), -1));
  }
  return {converted(out, query.scalar_type()), sums};
}

// The weights are computed again from the scores and their sums.
std::tuple<Tensor, Tensor, Tensor> attentionWithSumsBackward(const Tensor& grad_out, const Tensor& query,
                                                             const Tensor& key, const Tensor& value, const Tensor& out,
                                                             const Tensor& logsumexp, double dropout_p, bool is_causal,
                                                             const OptionalTensor& attn_mask,
                                                             std::optional<double> scale) {
  constexpr std::string_view kName = "_scaled_dot_product_flash_attention_for_cpu_backward";
  const Tensor mask = attn_mask.value_or(Tensor());
  checkFlash(query, key, value, mask, dropout_p);
  BOXCAR_CHECK(std::ranges::equal(grad_out.sizes(), query.sizes()) && std::ranges::equal(out.sizes(), query.sizes()) &&
                   std::ranges::equal(logsumexp.sizes(), query.sizes().first(3)),
               "{}: expected grad_out and out of the query's size, and logsumexp of its first three, but got sizes {}, "
               "{} and {} for a query of size {}",
               kName, meta::listOf(grad_out.sizes()), meta::listOf(out.sizes()), meta::listOf(logsumexp.sizes()),
               meta::listOf(query.sizes()));
  const double factor = scaleFor(query, scale);
  const ScalarType type = query.scalar_type();
  const Tensor q = widened(query);
  const Tensor k = widened(key);
  const Tensor v = widened(value);
  const Tensor gradient = converted(grad_out, q.scalar_type());
  const Tensor result = converted(out, q.scalar_type());
  const bool is_served = goesByBlocks(query, key, value, mask) && grad_out.device() == query.device() &&
                         out.device() == query.device() && logsumexp.device() == query.device();
  // As in PyTorch, heads lie beside each other.
  const auto gradientOf = [](const Tensor& tensor) {
    return boxcar::transpose(boxcar::empty({tensor.size(0), tensor.size(2), tensor.size(1), tensor.size(3)},
                                           tensor.scalar_type(), std::nullopt, tensor.device()),
                             1, 2);
  };
  Tensor of_query = gradientOf(q);
  Tensor of_key = gradientOf(k);
  Tensor of_value = gradientOf(v);
  if (is_served) {
    const Tensor of_scores = maskOfScores(
        mask.defined() && mask.scalar_type() == ScalarType::Bool ? biasOf(mask, q.scalar_type()) : mask, query, key);
    native::attendInBlocksGradients(query.device(), {q, k, v, of_scores, is_causal, factor}, gradient, result,
                                    converted(logsumexp, q.scalar_type()), of_query, of_key, of_value);
  }
  if (is_served || query.device().is_meta()) {
    return {converted(of_query, type), converted(of_key, type), converted(of_value, type)};
  }
  const Tensor scaled = boxcar::mul(q, factor);
  Tensor scores = boxcar::matmul(scaled, boxcar::transpose(k, -2, -1));
  if (is_causal) boxcar::add_(scores, causalBias(q, k));
  if (mask.defined()) {
    boxcar::add_(scores, mask.scalar_type() == ScalarType::Bool ? biasOf(mask, scores.scalar_type()) : widened(mask));
  }
  const Tensor weights = boxcar::exp_(boxcar::sub_(scores, boxcar::unsqueeze(widened(logsumexp), -1)));
  const int64_t last[] = {-1};
  const Tensor shares = boxcar::sum(boxcar::mul(gradient, result), last, /*keepdim=*/true);
  Tensor of_scores = boxcar::matmul(gradient, boxcar::transpose(v, -2, -1));
  boxcar::mul_(boxcar::sub_(of_scores, shares), weights);
  boxcar::copy_(of_query, boxcar::mul(boxcar::matmul(of_scores, k), factor));
  boxcar::copy_(of_key, boxcar::matmul(boxcar::transpose(of_scores, -2, -1), scaled));
  boxcar::copy_(of_value, boxcar::matmul(boxcar::transpose(weights, -2, -1), gradient));
  return {converted(of_query, type), converted(of_key, type), converted(of_value, type)};
}

// Returns the sizes before the last two that query, key and value have together; nullopt if they do not broadcast.
std::optional<DimVector> batchOf(std::initializer_list<const Tensor*> tensors) {
  std::optional<DimVector> batch(std::in_place);
  for (const Tensor* tensor : tensors) {
    if (!meta::tryBroadcast(*batch, tensor->sizes().first(tensor->sizes().size() - 2))) return std::nullopt;
  }
  return batch;
}

// Returns [tensor] with the dimensions [batch] before its last two, and then with 4 dimensions in all.
Tensor withBatch(const Tensor& tensor, const DimVector& batch) {
  DimVector sizes = batch;
  sizes.push_back(tensor.size(-2));
  sizes.push_back(tensor.size(-1));
  Tensor whole = std::ranges::equal(sizes, tensor.sizes()) ? tensor : boxcar::expand(tensor, sizes);
  if (batch.size() == 2) return whole;
  const DimVector flat{numelOf(batch), 1, tensor.size(-2), tensor.size(-1)};
  return boxcar::reshape(whole, flat);
}

// Whether the result has the layout of the query, as in PyTorch: if nothing is broadcast and rows are adjacent
// elements.
bool keepsLayout(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& mask) {
  const auto hasRows = [](const Tensor& tensor) { return tensor.strides().back() == 1; };
  return query.dim() == 4 && key.dim() == 4 && value.dim() == 4 && hasRows(query) && hasRows(key) && hasRows(value) &&
         (!mask.defined() || (hasRows(mask) && !mask.requires_grad())) &&
         std::ranges::equal(key.sizes().first(2), query.sizes().first(2)) &&
         std::ranges::equal(value.sizes().first(2), query.sizes().first(2)) && query.size(3) == value.size(3);
}

// Returns [result] with elements in the order of those of [query].
Tensor inLayoutOf(const Tensor& query, const Tensor& result) {
  const DimVector strides = meta::denseStrides(query);
  if (std::ranges::equal(strides, result.strides())) return result;
  DimVector order{0, 1, 2, 3};
  std::ranges::stable_sort(order, std::ranges::greater(), [&](int64_t dim) { return strides[dim]; });
  DimVector back(4);
  for (size_t i = 0; i < 4; ++i) back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  return boxcar::permute(boxcar::contiguous(boxcar::permute(result, order)), back);
}

// Returns attention by the flash operator; undefined where the device has no kernel for it, or where that does not
// apply: without queries or keys, with values that are not as long as queries, or with a mask that has a gradient.
Tensor attentionByBlocks(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& mask,
                         bool is_causal, double scale, bool enable_gqa) {
  if (!query.device().is_meta() && !goesByBlocks(query, key, value, mask)) return {};
  if (query.numel() == 0 || key.numel() == 0 || value.sizes().back() != query.sizes().back()) return {};
  if (mask.defined() && hasDerivative(mask)) return {};
  Tensor q = query;
  Tensor k = key;
  Tensor v = value;
  Tensor bias = mask;
  if (mask.defined() && mask.scalar_type() == ScalarType::Bool) bias = biasOf(mask, query.scalar_type());
  int64_t share = 1;
  if (enable_gqa) {
    share = sharedHeads(query, key);
    if (share != sharedHeads(query, value)) return {};
  }
  if (share > 1) {
    // The heads that share keys become queries of one head, which then all see the same keys.
    if (is_causal || bias.defined()) return {};
    q = boxcar::contiguous(joinHeads(query, share));
  }
  const std::optional<DimVector> batch = batchOf({&q, &k, &v});
  if (!batch.has_value() || numelOf(*batch) == 0) return {};
  if (bias.defined() && bias.dim() != 2) {
    const std::optional<DimVector> with_bias = bias.dim() < 2 ? std::nullopt : batchOf({&q, &k, &v, &bias});
    if (!with_bias.has_value() || *with_bias != *batch) return {};
    bias = withBatch(bias, *batch);
  }
  if (!keepsLayout(query, key, value, mask)) q = boxcar::contiguous(q);
  const Tensor result = std::get<0>(boxcar::_scaled_dot_product_flash_attention_for_cpu(
      withBatch(q, *batch), withBatch(k, *batch), withBatch(v, *batch), 0.0, is_causal,
      bias.defined() ? OptionalTensor(bias) : std::nullopt, scale));
  if (batch->size() == 2) return splitHeads(result, share);
  DimVector sizes = *batch;
  sizes.push_back(q.size(-2));
  sizes.push_back(q.size(-1));
  return splitHeads(boxcar::reshape(result, sizes), share);
}

Tensor scaledDotProductAttention(const Tensor& query, const Tensor& key, const Tensor& value,
                                 const OptionalTensor& attn_mask, double dropout_p, bool is_causal,
                                 std::optional<double> scale, bool enable_gqa) {
  const Tensor mask = attn_mask.value_or(Tensor());
  checkArguments(query, key, value, mask, is_causal);
  const double factor = scaleFor(query, scale);
  const ScalarType type = query.scalar_type();
  const bool is_small = type == ScalarType::Half || type == ScalarType::BFloat16;
  const Device device = query.device();
  if (dropout_p <= 0 && (!is_small || device.is_meta() || native::attendInBlocks.has(device.type()))) {
    const Tensor result = attentionByBlocks(widened(query), widened(key), widened(value), widenedMask(mask), is_causal,
                                            factor, enable_gqa);
    if (result.defined()) return converted(result, type);
  }
  const auto laidOut = [&](const Tensor& result) {
    return dropout_p <= 0 && keepsLayout(query, key, value, mask) ? inLayoutOf(query, result) : result;
  };
  if (!is_small) {
    return laidOut(attend(query, key, value, mask, {dropout_p, {}}, is_causal, factor, enable_gqa).result);
  }
  const bool is_plain = dropout_p <= 0 && !hasDerivative(query) && !hasDerivative(key) && !hasDerivative(value) &&
                        !(mask.defined() && hasDerivative(mask));
  if (is_plain && !device.is_meta() && query.device() == key.device() && query.device() == value.device() &&
      (!mask.defined() || mask.device() == query.device())) {
    const Tensor result = native::attendAtOnce(query.device(), query, key, value, mask, is_causal, factor, enable_gqa);
    if (result.defined()) return laidOut(result);
  }
  const Attention attention = attend(widened(query), widened(key), widened(value), widenedMask(mask), {dropout_p, {}},
                                     is_causal, factor, enable_gqa);
  return boxcar::to(laidOut(attention.result), type);
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) {
  m.impl("scaled_dot_product_attention", BOXCAR_FN(scaledDotProductAttention));
  m.impl("_scaled_dot_product_attention_math", BOXCAR_FN(attentionOfProducts));
}

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("_scaled_dot_product_flash_attention_for_cpu", BOXCAR_FN(attentionWithSums));
  m.impl("_scaled_dot_product_flash_attention_for_cpu_backward", BOXCAR_FN(attentionWithSumsBackward));
}

}  // namespace boxcar::composite
