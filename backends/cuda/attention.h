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

// A [batch, heads, length, width] tensor in device memory. Strides are in elements; the last one is 1.
struct AttentionOperand {
  void* data = nullptr;
  std::array<int64_t, 4> sizes{};
  std::array<int64_t, 4> strides{};
};

// out = softmax(scale * query @ key' + bias) @ value, in float16 or bfloat16. Several query heads may share one head of
// key and value.
struct AttentionCall {
  ScalarType type;
  AttentionOperand query;
  AttentionOperand key;
  AttentionOperand value;
  AttentionOperand bias;  // rows and columns match the scores, all values finite; no data when there is none
  AttentionOperand out;
  bool is_causal;  // query i attends to no key after position i
  float scale;
  Recording recording = Recording::kNone;  // of the calling thread
};

// Returns the numbers that identify a plan.
BOXCAR_API std::vector<int64_t> planKey(const AttentionCall& call);
// Returns a key shared by calls that differ only in batches and lengths; a length of 1 is a kind of its own.
BOXCAR_API std::vector<int64_t> planKind(const AttentionCall& call);

// Prepared arguments of scaled_dot_product_attention. The tensors own the memory that the addresses in `call` point to.
struct PreparedAttention {
  AttentionCall call;
  Tensor query, key, value, bias;
  Tensor hidden;  // true where a query may attend to nothing; undefined without a mask
  Tensor out;
};

// Returns nullopt, having done nothing, unless cuDNN is used for such a call: 2 to 4 dimensions of float16 or bfloat16
// with no empty dimension, widths that are multiples of 8 up to 256, equal batches, and a mask that broadcasts to the
// scores.
std::optional<PreparedAttention> prepareAttention(const Tensor& query, const Tensor& key, const Tensor& value,
                                                  const Tensor& mask, bool is_causal, double scale, bool enable_gqa);

}  // namespace boxcar::cuda
