#pragma once

#include <boxcar/ivalue/scalar.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>

// Functions of formulas of operators that move, select, reduce or map elements.

namespace boxcar::autograd {

// The gradient of an argument that PyTorch has no derivative for, either. Throws Error.
[[noreturn]] Tensor no_derivative(std::string_view op, std::string_view argument);

// == Indices and shapes ==

// A zero of the dtype of [grad].
Tensor zero_of(const Tensor& grad);
// What a tensor of [sizes] whose elements went to the indices [index] of dimension [dim] gets.
Tensor at_index(const Tensor& grad, std::span<const int64_t> sizes, int64_t dim, const Tensor& index);
// What the single element that was written to all of these indices gets.
Tensor filled_value(const Tensor& grad, int64_t dim, const Tensor& index);
// What a tensor of [sizes], of which scatter read as much as [index] has, gets.
Tensor gathered(const Tensor& grad, std::span<const int64_t> sizes, int64_t dim, const Tensor& index);
Tensor masked_select_self(const Tensor& grad, std::span<const int64_t> sizes, const Tensor& mask);
// The gradients of self and src.
std::tuple<Tensor, Tensor> scatter_reduce_parts(const Tensor& grad, const Tensor& self, int64_t dim,
                                                const Tensor& index, const Tensor& src, std::string_view reduce,
                                                bool include_self, const Tensor& result);
std::tuple<Tensor, Tensor> index_reduce_parts(const Tensor& grad, const Tensor& self, int64_t dim, const Tensor& index,
                                              const Tensor& source, std::string_view reduce, bool include_self,
                                              const Tensor& result);
// The gradient of a tensor with the layout [sizes], [strides] and [offset] from that of the view with [view_sizes],
// [view_strides] and [view_offset]. Elements that share memory share the gradient.
Tensor as_strided_self(const Tensor& grad, std::span<const int64_t> sizes, std::span<const int64_t> strides,
                       int64_t offset, std::span<const int64_t> view_sizes, std::span<const int64_t> view_strides,
                       std::optional<int64_t> view_offset);
// The view of [grad], laid out with [strides] and [offset], and [grad] with zeros there.
Tensor strided_part(const Tensor& grad, std::span<const int64_t> strides, int64_t offset,
                    std::span<const int64_t> view_sizes, std::span<const int64_t> view_strides,
                    std::optional<int64_t> view_offset);
Tensor as_strided_scatter_self(const Tensor& grad, std::span<const int64_t> strides, int64_t offset,
                               std::span<const int64_t> view_sizes, std::span<const int64_t> view_strides,
                               std::optional<int64_t> view_offset);
Tensor split_sizes_whole(std::span<const Tensor> grads, std::span<const int64_t> sizes,
                         std::span<const int64_t> split_sizes, int64_t dim);

// == Reductions ==

Tensor sum_along(const Tensor& x, int64_t dim);
// The tangent of a reduction along [dims], or along all for none: the change by [tangent], if [gradients] are those of
// the elements where that of the result is 1.
Tensor reduced_tangent(const Tensor& gradients, const Tensor& tangent,
                       std::optional<std::span<const int64_t>> dims = std::nullopt, bool keepdim = false);
Tensor reduced_tangent(const Tensor& gradients, const Tensor& tangent, int64_t dim, bool keepdim);
// The elements of [x] that a reduction along [dim] chose.
Tensor picked(const Tensor& x, int64_t dim, const Tensor& indices, bool keepdim);
Tensor softmax_second(const Tensor& grad, const Tensor& grad_output, const Tensor& output, int64_t dim);
Tensor prod_self(const Tensor& grad, const Tensor& self, const Tensor& result);
Tensor prod_self(const Tensor& grad, const Tensor& self, const Tensor& result, int64_t dim, bool keepdim);
Tensor cumprod_self(const Tensor& grad, const Tensor& self, int64_t dim, const Tensor& result);
Tensor logcumsumexp_self(const Tensor& grad, const Tensor& self, const Tensor& result, int64_t dim);
Tensor logcumsumexp_tangent(const Tensor& tangent, const Tensor& self, const Tensor& result, int64_t dim);
Tensor aminmax_self(const Tensor& grad_min, const Tensor& grad_max, const Tensor& self, const Tensor& min,
                    const Tensor& max, std::optional<int64_t> dim, bool keepdim);
Tensor var_mean_self(const Tensor& grad_var, const Tensor& grad_mean, const Tensor& self,
                     std::optional<std::span<const int64_t>> dims, const std::optional<Scalar>& correction,
                     bool keepdim);
Tensor std_mean_self(const Tensor& grad_std, const Tensor& grad_mean, const Tensor& self, const Tensor& std,
                     std::optional<std::span<const int64_t>> dims, const std::optional<Scalar>& correction,
                     bool keepdim);

// == Activations: second derivatives ==

Scalar reciprocal_of(const Scalar& number);
Tensor gelu_curvature(const Tensor& self, std::string_view approximate);
Tensor silu_curvature(const Tensor& self);
Tensor mish_curvature(const Tensor& self);
Tensor softplus_second(const Tensor& grads, const Tensor& self, const Scalar& beta, const Scalar& threshold);
Tensor elu_second(const Tensor& grads, const Scalar& alpha, const Scalar& scale, const Scalar& input_scale,
                  bool is_result, const Tensor& self_or_result);
Tensor glu_second_grad(const Tensor& grad, const Tensor& self, int64_t dim);
Tensor glu_second_self(const Tensor& grad, const Tensor& grad_output, const Tensor& self, int64_t dim);
Tensor logit_second(const Tensor& grads, const Tensor& self, std::optional<double> eps);

// == Functions of elements ==

Tensor clamp_tensors_self(const Tensor& grad, const Tensor& self, const std::optional<Tensor>& min,
                          const std::optional<Tensor>& max);
Tensor clamp_tensors_min(const Tensor& grad, const Tensor& self, const std::optional<Tensor>& min,
                         const std::optional<Tensor>& max);
Tensor clamp_tensors_max(const Tensor& grad, const Tensor& self, const std::optional<Tensor>& min,
                         const std::optional<Tensor>& max);
Tensor igamma_other(const Tensor& grad, const Tensor& self, const Tensor& other);
Tensor zeta_other(const Tensor& grad, const Tensor& self, const Tensor& other);
Tensor xlog1py_self(const Tensor& grad, const Tensor& self, const Scalar& other);
// The derivatives of Bessel functions whose values are [result].
Tensor i1_slope(const Tensor& x, const Tensor& result);
Tensor i1e_slope(const Tensor& x, const Tensor& result);
Tensor j1_slope(const Tensor& x, const Tensor& result);
Tensor y1_slope(const Tensor& x, const Tensor& result);

}  // namespace boxcar::autograd
