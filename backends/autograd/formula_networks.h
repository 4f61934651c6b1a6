#pragma once

#include <boxcar/ivalue/tensor.h>
#include <boxcar/ops.h>

#include <cstdint>
#include <optional>
#include <span>
#include <tuple>

// Functions of formulas of operators for neural networks. [mask] says which gradients are needed.

namespace boxcar::autograd {

// A number for each channel, with dimensions of size 1 after it, as they are added to [images].
Tensor on_channels(const Tensor& numbers, const Tensor& images);

struct LaterTensor;

using GradientPair = std::tuple<Tensor, Tensor>;
using GradientTriple = std::tuple<Tensor, Tensor, Tensor>;
using GradientQuadruple = std::tuple<Tensor, Tensor, Tensor, Tensor>;

// == Losses ==
Tensor binary_cross_entropy_target(const Tensor& grad, const Tensor& self, const std::optional<Tensor>& weight,
                                   int64_t reduction);
// The gradients of binary_cross_entropy_backward.
Tensor binary_cross_entropy_twice(const Tensor& grad, const Tensor& grad_output, const Tensor& self,
                                  const Tensor& target, const std::optional<Tensor>& weight, int64_t reduction);
Tensor binary_cross_entropy_twice_target(const Tensor& grad, const Tensor& grad_output, const Tensor& self,
                                         const std::optional<Tensor>& weight, int64_t reduction);
Tensor binary_cross_entropy_with_logits_self(const Tensor& grad, const Tensor& self, const Tensor& target,
                                             const std::optional<Tensor>& weight,
                                             const std::optional<Tensor>& pos_weight, int64_t reduction);
Tensor binary_cross_entropy_with_logits_target(const Tensor& grad, const Tensor& self,
                                               const std::optional<Tensor>& weight,
                                               const std::optional<Tensor>& pos_weight, int64_t reduction);

// == Norms and convolutions ==
GradientTriple batch_norm_gradients(const Tensor& grad, const Tensor& input, const std::optional<Tensor>& weight,
                                    const LaterTensor& running_mean, const LaterTensor& running_var,
                                    const Tensor& save_mean, const Tensor& save_invstd, bool training, double eps,
                                    std::span<const bool> mask);
// The gradients of native_batch_norm_backward for input, weight and grad_out.
GradientTriple batch_norm_twice(std::span<const Tensor> grads, const Tensor& grad_out, const Tensor& input,
                                const std::optional<Tensor>& weight, const std::optional<Tensor>& running_mean,
                                const std::optional<Tensor>& running_var, const std::optional<Tensor>& save_mean,
                                const std::optional<Tensor>& save_invstd, bool training, double eps);
GradientTriple layer_norm_twice(std::span<const Tensor> grads, const Tensor& grad_out, const Tensor& input,
                                std::span<const int64_t> normalized_shape, const Tensor& mean, const Tensor& rstd,
                                const std::optional<Tensor>& weight);
GradientTriple group_norm_gradients(std::span<const Tensor> grads, const Tensor& input, const Tensor& mean,
                                    const Tensor& rstd, const std::optional<Tensor>& weight, int64_t samples,
                                    int64_t channels, int64_t length, int64_t groups, std::span<const bool> mask);
// The gradients of convolution_backward for grad_output, input and weight.
GradientTriple convolution_twice(std::span<const Tensor> grads, const Tensor& grad_output, const Tensor& input,
                                 const Tensor& weight, std::span<const int64_t> stride,
                                 std::span<const int64_t> padding, std::span<const int64_t> dilation, bool transposed,
                                 std::span<const int64_t> output_padding, int64_t groups, std::span<const bool> mask);

// The gradients of _scaled_dot_product_flash_attention_for_cpu_backward for grad_out, query, key and value.
GradientQuadruple attention_twice(std::span<const Tensor> grads, const Tensor& grad_out, const Tensor& query,
                                  const Tensor& key, const Tensor& value, bool is_causal,
                                  const std::optional<Tensor>& attn_mask, std::optional<double> scale);

// == Others ==
GradientPair prelu_gradients(const Tensor& grad, const Tensor& self, const Tensor& weight);
// The gradients of _prelu_kernel_backward for grad_output, self and weight.
GradientTriple prelu_twice(std::span<const Tensor> grads, const Tensor& grad_output, const Tensor& self,
                           const Tensor& weight);
// The sums over all dimensions but the last.
Tensor sums_of_rows(const Tensor& grad);
// The gradient of max_pool2d, whose places are found again.
Tensor max_pool2d_gradient(const Tensor& grad, const Tensor& self, std::span<const int64_t> kernel_size,
                           std::span<const int64_t> stride, std::span<const int64_t> padding,
                           std::span<const int64_t> dilation, bool ceil_mode);
// The elements of the last [rank] dimensions at the places that a pool of them found.
Tensor at_maxima(const Tensor& grad, const Tensor& indices, int64_t rank);
std::span<const int64_t> last_sizes(std::span<const int64_t> sizes, int64_t count);
Tensor embedding_rows(const Tensor& grad, const Tensor& indices, int64_t padding_idx);

}  // namespace boxcar::autograd
