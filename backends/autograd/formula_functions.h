#pragma once

#include <boxcar/backends/autograd/formula_elements.h>  // IWYU pragma: export
#include <boxcar/backends/autograd/formula_linalg.h>    // IWYU pragma: export
#include <boxcar/backends/autograd/formula_networks.h>  // IWYU pragma: export
#include <boxcar/backends/autograd/forward_mode.h>
#include <boxcar/dispatcher/call/grad_mode.h>
#include <boxcar/ivalue/array_ref.h>
#include <boxcar/ivalue/scalar.h>
#include <boxcar/ivalue/tensor.h>
#include <boxcar/ops.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

// What formulas of derivatives are written with, besides the operators: the arithmetic of tensors and numbers, and
// functions for what a line cannot say. An undefined tensor is a gradient that is zero.

namespace boxcar::autograd {

// Whether the formula itself may be differentiated: it is recorded, or tangents are computed.
inline bool isDifferentiated() { return GradMode::is_enabled() || computesTangents(); }

Tensor operator+(const Tensor& a, const Tensor& b);
Tensor operator-(const Tensor& a, const Tensor& b);
Tensor operator*(const Tensor& a, const Tensor& b);
Tensor operator/(const Tensor& a, const Tensor& b);
Tensor operator-(const Tensor& a);
Tensor operator+(const Tensor& a, const Scalar& b);
Tensor operator-(const Tensor& a, const Scalar& b);
Tensor operator*(const Tensor& a, const Scalar& b);
Tensor operator/(const Tensor& a, const Scalar& b);
Tensor operator+(const Scalar& a, const Tensor& b);
Tensor operator-(const Scalar& a, const Tensor& b);
Tensor operator*(const Scalar& a, const Tensor& b);
inline Tensor operator==(const Tensor& a, const Tensor& b) { return boxcar::eq(a, b); }
inline Tensor operator<(const Tensor& a, const Tensor& b) { return boxcar::lt(a, b); }
inline Tensor operator<=(const Tensor& a, const Tensor& b) { return boxcar::le(a, b); }
inline Tensor operator>(const Tensor& a, const Tensor& b) { return boxcar::gt(a, b); }
inline Tensor operator>=(const Tensor& a, const Tensor& b) { return boxcar::ge(a, b); }
inline Tensor operator<(const Tensor& a, const Scalar& b) { return boxcar::lt(a, b); }
inline Tensor operator<=(const Tensor& a, const Scalar& b) { return boxcar::le(a, b); }
inline Tensor operator>(const Tensor& a, const Scalar& b) { return boxcar::gt(a, b); }
inline Tensor operator>=(const Tensor& a, const Scalar& b) { return boxcar::ge(a, b); }
inline Tensor power(const Tensor& a, const Scalar& b) { return boxcar::pow(a, b); }

// The complex conjugate; a real tensor or number is its own.
Tensor conjugate(const Tensor& x);
Scalar conjugate(const Scalar& x);
// [number] * grad; grad itself for 1. The number is conjugated.
Tensor scaled(const Tensor& grad, const Scalar& number);
// [number] * tensor; tensor itself for 1.
Tensor times(const Tensor& tensor, const Scalar& number);
// The gradient of the right factor of a product of matrices, in the order in memory that the factor has.
Tensor right_factor(const Tensor& left, const Tensor& grad, bool is_turned);
// A number as a tensor that does not raise the dtype of a result.
Tensor wrapped(const Scalar& number);
Scalar operator-(int64_t a, const Scalar& b);

// [grad], but 0 where x == 0 and [excepted].
Tensor at_zero(const Tensor& grad, const Tensor& x, const Tensor& excepted);
Tensor div_mode_self(const Tensor& grad, const Tensor& other, std::optional<std::string_view> rounding_mode);
Tensor div_mode_self(const Tensor& grad, const Scalar& other, std::optional<std::string_view> rounding_mode);
Tensor div_mode_other(const Tensor& grad, const Tensor& self, const Tensor& other,
                      std::optional<std::string_view> rounding_mode);
Tensor pow_self(const Tensor& grad, const Tensor& self, const Scalar& exponent);
Tensor pow_self(const Tensor& grad, const Tensor& self, const Tensor& exponent);
Tensor pow_exponent(const Tensor& grad, const Tensor& self, const Tensor& exponent, const Tensor& result);
Tensor copysign_self(const Tensor& grad, const Tensor& self, const Tensor& result);
Tensor xlogy_self(const Tensor& grad, const Tensor& self, const Scalar& other);
Tensor angle_self(const Tensor& grad, const Tensor& self);
Tensor sgn_self(const Tensor& grad, const Tensor& self, const Tensor& sgn);
Tensor clamp_self(const Tensor& grad, const Tensor& self, const std::optional<Scalar>& min,
                  const std::optional<Scalar>& max);
Tensor sinc_self(const Tensor& grad, const Tensor& self);

// Undoes a reduction of a tensor of [sizes] along [dims], or along all for none: the gradient of each element.
Tensor spread(const Tensor& grad, std::span<const int64_t> sizes, std::optional<std::span<const int64_t>> dims,
              bool keepdim);
// The number of elements that such a reduction combines.
int64_t reduced(std::span<const int64_t> sizes, std::optional<std::span<const int64_t>> dims);

Tensor permuted_back(const Tensor& grad, std::span<const int64_t> dims);
// A tensor of [sizes] that is [grad] at what select or slice views, and else 0.
Tensor into_select(const Tensor& grad, std::span<const int64_t> sizes, int64_t dim, int64_t index);
Tensor into_slice(const Tensor& grad, std::span<const int64_t> sizes, int64_t dim, std::optional<int64_t> start,
                  std::optional<int64_t> end, int64_t step);
// The parts of the gradient of a concatenation.
std::vector<Tensor> cat_parts(const Tensor& grad, TensorList tensors, int64_t dim);
// The gradient of a tensor of [sizes] from those of its parts, some of which may be undefined.
Tensor split_whole(std::span<const Tensor> grads, std::span<const int64_t> sizes, int64_t split_size, int64_t dim);
Tensor unbind_whole(std::span<const Tensor> grads, std::span<const int64_t> sizes, int64_t dim);
Tensor repeat_self(const Tensor& grad, std::span<const int64_t> sizes, std::span<const int64_t> repeats);
std::vector<int64_t> negated(std::span<const int64_t> numbers);
// A tensor of [sizes] that is [grad] at the places [indices] along [dim], and else 0.
Tensor into_places(const Tensor& grad, std::span<const int64_t> sizes, int64_t dim, const Tensor& indices,
                   bool keepdim);
// [grad] in equal parts at the elements that are the [result] of a maximum or minimum.
Tensor to_extremes(const Tensor& grad, const Tensor& self, const Tensor& result,
                   std::optional<std::span<const int64_t>> dims = std::nullopt, bool keepdim = false);
Tensor var_self(const Tensor& grad, const Tensor& self, std::optional<std::span<const int64_t>> dims,
                const std::optional<Scalar>& correction, bool keepdim);

// A real tensor times the imaginary unit.
Tensor imaginary(const Tensor& x);
double dropout_scale(double p, std::optional<bool> train);
// The size of dimension 1, as a list.
std::vector<int64_t> channels(const Tensor& x);
}  // namespace boxcar::autograd
