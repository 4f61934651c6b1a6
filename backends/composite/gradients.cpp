#include <boxcar/backends/composite/dtype.h>
#include <boxcar/backends/meta/spatial.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>

// Gradients that PyTorch's programs call by name.

namespace boxcar::composite {
namespace {

void checkGradient(const Tensor& grad_output, const Tensor& output, std::string_view op) {
  BOXCAR_CHECK(std::ranges::equal(grad_output.sizes(), output.sizes()),
               "{}: expected grad_output and output of the same size, but got {} and {}", op,
               meta::listOf(grad_output.sizes()), meta::listOf(output.sizes()));
  BOXCAR_CHECK(grad_output.is_floating_point() && grad_output.scalar_type() == output.scalar_type(),
               "{}: expected grad_output and output of the same floating-point dtype, but got {} and {}", op,
               dtypeName(grad_output.scalar_type()), dtypeName(output.scalar_type()));
}

// Returns the dtype of the gradient. Only float16 has a softmax of another dtype, float32.
ScalarType gradientType(const Tensor& grad_output, ScalarType input_dtype) {
  const bool was_half = input_dtype == ScalarType::Half && grad_output.scalar_type() == ScalarType::Float;
  return was_half ? input_dtype : grad_output.scalar_type();
}

Tensor sumAlong(const Tensor& tensor, int64_t dim) {
  return boxcar::sum(tensor, std::span<const int64_t>(&dim, 1), /*keepdim=*/true);
}

Tensor softmaxBackward(const Tensor& grad_output, const Tensor& output, int64_t dim, ScalarType input_dtype) {
  checkGradient(grad_output, output, "_softmax_backward_data");
  const Tensor y = boxcar::contiguous(widened(output));
  Tensor weighted = boxcar::mul(widened(grad_output), y);
  boxcar::sub_(weighted, boxcar::mul(y, sumAlong(weighted, dim)));
  return converted(boxcar::contiguous(weighted), gradientType(grad_output, input_dtype));
}

Tensor logSoftmaxBackward(const Tensor& grad_output, const Tensor& output, int64_t dim, ScalarType input_dtype) {
  checkGradient(grad_output, output, "_log_softmax_backward_data");
  const Tensor gradient = boxcar::contiguous(widened(grad_output));
  Tensor shared = boxcar::exp(widened(output));
  boxcar::mul_(shared, sumAlong(gradient, dim));
  boxcar::sub_out(shared, gradient, shared);
  return converted(boxcar::contiguous(shared), gradientType(grad_output, input_dtype));
}

Tensor nativeDropoutBackward(const Tensor& grad_output, const Tensor& mask, double scale) {
  return boxcar::mul(grad_output, boxcar::mul(boxcar::to(mask, grad_output.scalar_type()), scale));
}

Tensor maskedScatterBackward(const Tensor& grad_output, const Tensor& mask, std::span<const int64_t> sizes) {
  const Tensor read = boxcar::masked_select(grad_output, mask);
  const int64_t unread = numelOf(sizes) - read.numel();
  BOXCAR_CHECK(unread >= 0,
               "masked_scatter_backward: {} elements of the mask are true, but the source of sizes {} has {}",
               read.numel(), meta::listOf(sizes), numelOf(sizes));
  const int64_t padding[] = {0, unread};
  return boxcar::reshape(boxcar::constant_pad_nd(read, padding), sizes);
}

// Adds each element of the windows to the element that it was taken from.
Tensor unfoldBackward(const Tensor& grad_in, std::span<const int64_t> input_sizes, int64_t dim, int64_t size,
                      int64_t step) {
  constexpr std::string_view kName = "unfold_backward";
  const auto rank = static_cast<int64_t>(input_sizes.size());
  const int64_t along = wrapDimension(dim, rank);
  BOXCAR_CHECK(
      step > 0 && size >= 0 && grad_in.dim() == rank + 1 && grad_in.sizes().back() == size,
      "{}: expected a gradient of windows of size {} in a step above 0, for an input of size {}, but got one of "
      "size {} and step {}",
      kName, size, meta::listOf(input_sizes), meta::listOf(grad_in.sizes()), step);
  Tensor result = boxcar::zeros(input_sizes, grad_in.scalar_type(), std::nullopt, grad_in.device());
  if (rank == 0) return size == 0 ? result : boxcar::clone(boxcar::reshape(grad_in, {}));
  const auto at = static_cast<size_t>(along);
  const int64_t count = grad_in.sizes()[at];
  for (size_t i = 0; i < input_sizes.size(); ++i) {
    BOXCAR_CHECK(i == at || grad_in.sizes()[i] == input_sizes[i] || grad_in.sizes()[i] == 1,
                 "{}: a gradient of size {} does not fit an input of size {}", kName, meta::listOf(grad_in.sizes()),
                 meta::listOf(input_sizes));
  }
  const int64_t length = input_sizes[at];
  BOXCAR_CHECK(count == 0 || (size <= length && count - 1 <= (length - size) / step),
               "{}: {} windows of size {} and step {} do not fit into a dimension of size {}", kName, count, size, step,
               length);
  if (grad_in.numel() == 0) return result;
  const auto numbers = [&](int64_t end) {
    return boxcar::arange(end, ScalarType::Long, std::nullopt, grad_in.device());
  };
  const Tensor places = boxcar::add(boxcar::mul(boxcar::unsqueeze(numbers(count), 1), step), numbers(size));
  DimVector broadcast(input_sizes.begin(), input_sizes.end());
  broadcast[at] = count;
  broadcast.push_back(size);
  const Tensor whole = boxcar::expand(widened(grad_in), broadcast);
  const Tensor parts = boxcar::flatten(boxcar::movedim(whole, -1, along + 1), along, along + 1);
  return converted(boxcar::index_add(widened(result), along, boxcar::flatten(places), parts), grad_in.scalar_type());
}

// Adds each row of the gradient to the row of the weight that it was taken from.
Tensor embeddingDenseBackward(const Tensor& grad_output, const Tensor& indices, int64_t num_weights,
                              int64_t padding_idx, bool scale_grad_by_freq) {
  constexpr std::string_view kName = "embedding_dense_backward";
  const ScalarType type = indices.scalar_type();
  BOXCAR_CHECK(type == ScalarType::Long || type == ScalarType::Int, "{}: indices must be int64 or int32, not {}", kName,
               dtypeName(type));
  BOXCAR_CHECK(num_weights >= 0, "{}: num_weights must not be negative, but it is {}", kName, num_weights);
  const int64_t count = indices.numel();
  const int64_t width = grad_output.dim() == 0 ? 0 : grad_output.sizes().back();
  int64_t elements = 0;
  const bool fits =
      grad_output.dim() > 0 && !__builtin_mul_overflow(count, width, &elements) && elements == grad_output.numel();
  BOXCAR_CHECK(fits, "{}: grad_output must have a row for each of {} indices, but it is of size {}", kName, count,
               meta::listOf(grad_output.sizes()));
  const Tensor places = boxcar::reshape(indices, dimVector(count));
  Tensor rows = boxcar::reshape(widened(grad_output), dimVector(count, width));
  const auto zerosOf = [&](const DimVector& sizes, ScalarType dtype) {
    return boxcar::zeros(sizes, dtype, std::nullopt, grad_output.device());
  };
  if (scale_grad_by_freq) {
    const Tensor counts = boxcar::index_add(zerosOf(dimVector(num_weights), ScalarType::Long), 0, places,
                                            boxcar::ones_like(places, ScalarType::Long));
    rows = boxcar::div(rows, boxcar::unsqueeze(boxcar::index_select(counts, 0, places), 1));
  }
  if (padding_idx >= 0) rows = boxcar::where(boxcar::unsqueeze(boxcar::ne(places, padding_idx), 1), rows, 0);
  return converted(boxcar::index_add(zerosOf(dimVector(num_weights, width), rows.scalar_type()), 0, places, rows),
                   grad_output.scalar_type());
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("masked_scatter_backward", BOXCAR_FN(maskedScatterBackward));
  m.impl("_softmax_backward_data", BOXCAR_FN(softmaxBackward));
  m.impl("_log_softmax_backward_data", BOXCAR_FN(logSoftmaxBackward));
  m.impl("native_dropout_backward", BOXCAR_FN(nativeDropoutBackward));
  m.impl("unfold_backward", BOXCAR_FN(unfoldBackward));
  m.impl("embedding_dense_backward", BOXCAR_FN(embeddingDenseBackward));
}

}  // namespace boxcar::composite
