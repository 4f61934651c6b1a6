#pragma once

#include <boxcar/backends/native/device_stub.h>
#include <boxcar/ivalue/tensor.h>

namespace boxcar::native {

// Computes attention of checked arguments in one kernel that does not store the scores; [mask] may be undefined, and
// [scale] multiplies the products. Returns undefined if the device has no such kernel for them; attention is then
// composed of products.
using AttentionFunction = Tensor(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& mask,
                                 bool is_causal, double scale, bool enable_gqa);
extern DeviceStub<AttentionFunction> attendAtOnce;

// Attention by blocks of queries and keys, whose scores are not kept. All tensors are float32, or all are float64, and
// of 4 dimensions with any strides: query is [batch, heads, L, E], key [batch, key heads, S, E] and value
// [batch, key heads, S, V]. Consecutive heads of the query share one of the keys.
struct AttentionCall {
  const Tensor& query;
  const Tensor& key;
  const Tensor& value;
  const Tensor& mask;  // added to the scaled scores: [batch, heads, L, S]; may be undefined
  bool is_causal;
  double scale;
};

// Writes the result to [out], [batch, heads, L, V], and the logarithm of the sum of the exponentials of each query's
// scores to [logsumexp], [batch, heads, L]. A query that may attend to no key has zeros in both.
using BlockAttentionFunction = void(const AttentionCall& call, const Tensor& out, const Tensor& logsumexp);
// A device that has none takes the products that attention is made of.
extern DeviceStub<BlockAttentionFunction> attendInBlocks;

// Writes the gradients of query, key and value from that of the result.
using BlockAttentionGradientFunction = void(const AttentionCall& call, const Tensor& grad_out, const Tensor& out,
                                            const Tensor& logsumexp, const Tensor& of_query, const Tensor& of_key,
                                            const Tensor& of_value);
extern DeviceStub<BlockAttentionGradientFunction> attendInBlocksGradients;

}  // namespace boxcar::native
