#pragma once

#include <boxcar/backends/cuda/stream.h>
#include <boxcar/ivalue/macros.h>
#include <boxcar/ivalue/scalar_type.h>
#include <boxcar/ivalue/tensor.h>

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace boxcar::cuda {

// A tensor in a device's memory of [batch, heads, length, width]: strides in elements, that of the last is 1.
struct AttentionOperand {
  void* data = nullptr;
  std::array<int64_t, 4> sizes{};
  std::array<int64_t, 4> strides{};
};

// out = softmax(scale * query @ key' + bias) @ value, of float16 or bfloat16. Several heads of the query may share one
// of key and value.
struct AttentionCall {
  ScalarType type;
  AttentionOperand query;
  AttentionOperand key;
  AttentionOperand value;
  AttentionOperand bias;  // of as many rows and columns as there are scores, all finite; no data when there is none
  AttentionOperand out;
  bool is_causal;  // the query at place i looks at no key behind place i
  float scale;
  Recording recording = Recording::kNone;  // of the thread that calls
};

// The numbers that a plan is made for.
BOXCAR_API std::vector<int64_t> planKey(const AttentionCall& call);
// The same for all calls that differ in lengths and batches alone.
BOXCAR_API std::vector<int64_t> planKind(const AttentionCall& call);

// Arguments of scaled_dot_product_attention that were prepared for a call; the tensors are what its addresses lie in.
struct PreparedAttention {
  AttentionCall call;
  Tensor query, key, value, bias;
  Tensor hidden;  // true where a query may look at nothing; undefined without a mask
  Tensor out;
};

// None when they are not what cuDNN is asked for: 2 to 4 dimensions of float16 or bfloat16 without elements missing,
// widths that are multiples of 8 up to 256, equal batches, a mask that broadcasts to the scores. Nothing was done then.
std::optional<PreparedAttention> prepareAttention(const Tensor& query, const Tensor& key, const Tensor& value,
                                                  const Tensor& mask, bool is_causal, double scale, bool enable_gqa);

}  // namespace boxcar::cuda
