#include <boxcar/backends/composite/dtype.h>
#include <boxcar/backends/composite/window_counts.h>
#include <boxcar/backends/composite/write_out.h>
#include <boxcar/backends/functors/windows.h>
#include <boxcar/backends/meta/factories.h>
#include <boxcar/backends/meta/pooling.h>
#include <boxcar/backends/meta/spatial.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

// Gradients of pools of images and volumes. Windows are products of lines along the dimensions, so what each window
// gives to its elements is spread along one dimension after the other. Nothing is multiplied by zero, so that NaN and
// infinity stay in their windows.

namespace boxcar::composite {
namespace {

using IntSpan = std::span<const int64_t>;
using functors::WindowAxis;

// [sizes] are those of the result of the pool.
void checkPooledGradient(std::string_view op, const Tensor& grad_output, const Tensor& self, IntSpan sizes) {
  BOXCAR_CHECK(std::ranges::equal(grad_output.sizes(), sizes),
               "{}: grad_output must be of the size {} of the pool's result, but it is of size {}", op,
               meta::listOf(sizes), meta::listOf(grad_output.sizes()));
  BOXCAR_CHECK(grad_output.scalar_type() == self.scalar_type(),
               "{}: grad_output and self must have the same dtype, but they have {} and {}", op,
               dtypeName(grad_output.scalar_type()), dtypeName(self.scalar_type()));
}

void checkFloatingPool(std::string_view op, const Tensor& self) {
  BOXCAR_CHECK(self.is_floating_point(), "{}: self must have a floating-point dtype, but it has {}", op,
               dtypeName(self.scalar_type()));
}

// Returns [gradient] with the dtype of [self], in its memory format.
Tensor gradientLike(const Tensor& self, const Tensor& gradient) {
  const MemoryFormat format = meta::suggestsChannelsLast(self) ? MemoryFormat::ChannelsLast : meta::formatOf(self);
  return boxcar::contiguous(converted(gradient, self.scalar_type()), format);
}

Tensor zerosAlong(const Tensor& parts, int64_t dim, int64_t size) {
  DimVector sizes = toDimVector(parts.sizes());
  sizes[static_cast<size_t>(dim)] = size;
  return boxcar::zeros(sizes, parts.scalar_type(), std::nullopt, parts.device());
}

// Returns sums of [axis.in] elements along dimension [dim]: each of [parts] is added to all elements of its window.
Tensor spreadWindows(const Tensor& parts, int64_t dim, const WindowAxis& axis) {
  Tensor result = zerosAlong(parts, dim, axis.in);
  if (result.is_meta() || result.numel() == 0) return result;
  if (axis.out <= axis.kernel) {
    for (int64_t o = 0; o < axis.out; ++o) {
      const functors::WindowRange range = axis.at(o);
      Tensor target = boxcar::narrow(result, dim, range.begin, range.end - range.begin);
      boxcar::add_(target, boxcar::narrow(parts, dim, o, 1));
    }
    return result;
  }
  // Element [k] of all windows at once: they are apart by the stride.
  for (int64_t k = 0; k < axis.kernel; ++k) {
    const int64_t before = axis.padding - k;
    if (before + axis.in <= 0) break;
    const int64_t first = before > 0 ? (before + axis.stride - 1) / axis.stride : 0;
    const int64_t last = std::min(axis.out - 1, (before + axis.in - 1) / axis.stride);
    if (first > last) continue;
    const int64_t start = first * axis.stride - before;
    Tensor target = boxcar::slice(result, dim, start, start + (last - first) * axis.stride + 1, axis.stride);
    boxcar::add_(target, boxcar::narrow(parts, dim, first, last - first + 1));
  }
  return result;
}

Tensor avgPoolBackward(std::string_view op, size_t rank, const Tensor& grad_output, const Tensor& self,
                       IntSpan kernel_size, IntSpan stride, IntSpan padding, bool ceil_mode, bool count_include_pad,
                       std::optional<int64_t> divisor_override) {
  BOXCAR_CHECK(divisor_override != 0, "{}: divisor_override must not be zero", op);
  const meta::Pool pool =
      meta::checkPool(op, rank, self, kernel_size, stride, padding, dimVector(int64_t{1}), ceil_mode);
  checkPooledGradient(op, grad_output, self, pool.output_sizes);
  const bool is_integer = self.scalar_type() == ScalarType::Long;
  if (!is_integer) checkFloatingPool(op, self);
  const size_t first = self.sizes().size() - rank;
  const auto along = [&](size_t i) {
    return WindowAxis{self.sizes()[first + i],
                      pool.output_sizes[first + i],
                      false,
                      pool.kernel[i],
                      pool.stride[i],
                      pool.padding[i],
                      1};
  };
  Tensor counts;
  if (divisor_override.has_value()) {
    counts = boxcar::scalar_tensor(*divisor_override, ScalarType::Long, std::nullopt, self.device());
  } else {
    for (size_t i = 0; i < rank; ++i) {
      const Tensor lines = windowCounts(along(i), count_include_pad, self.device());
      counts = i == 0 ? lines : boxcar::mul(boxcar::unsqueeze(counts, -1), lines);
    }
  }
  Tensor parts = is_integer ? boxcar::div(grad_output, counts, "trunc") : boxcar::div(widened(grad_output), counts);
  for (size_t i = 0; i < rank; ++i) parts = spreadWindows(parts, static_cast<int64_t>(first + i), along(i));
  return gradientLike(self, parts);
}
Tensor avgPool2dBackward(const Tensor& grad_output, const Tensor& self, IntSpan kernel_size, IntSpan stride,
                         IntSpan padding, bool ceil_mode, bool count_include_pad,
                         std::optional<int64_t> divisor_override) {
  return avgPoolBackward("avg_pool2d_backward", 2, grad_output, self, kernel_size, stride, padding, ceil_mode,
                         count_include_pad, divisor_override);
}
Tensor avgPool3dBackward(const Tensor& grad_output, const Tensor& self, IntSpan kernel_size, IntSpan stride,
                         IntSpan padding, bool ceil_mode, bool count_include_pad,
                         std::optional<int64_t> divisor_override) {
  return avgPoolBackward("avg_pool3d_backward", 3, grad_output, self, kernel_size, stride, padding, ceil_mode,
                         count_include_pad, divisor_override);
}
Tensor& avgPool2dBackwardOut(const Tensor& grad_output, const Tensor& self, IntSpan kernel_size, IntSpan stride,
                             IntSpan padding, bool ceil_mode, bool count_include_pad,
                             std::optional<int64_t> divisor_override, Tensor& grad_input) {
  return writeSameType(grad_input, avgPool2dBackward(grad_output, self, kernel_size, stride, padding, ceil_mode,
                                                     count_include_pad, divisor_override));
}

// If one line is divided into [n] parts and into [m] parts, returns the first and the last of the latter that each of
// the former meets.
std::pair<Tensor, Tensor> partsMet(int64_t n, int64_t m, Device device) {
  const Tensor starts = boxcar::mul(boxcar::arange(n, ScalarType::Long, std::nullopt, device), m);
  return {boxcar::div(starts, n, "floor"), boxcar::div(boxcar::add(starts, m - 1), n, "floor")};
}

// Returns [in] sums along dimension [dim]: each of [parts] is divided by the size of its adaptive window and added to
// the elements of this window. Of elements and windows, each of the more numerous meets one or two of the others.
Tensor spreadAdaptive(const Tensor& parts, int64_t dim, int64_t in) {
  const int64_t out = parts.sizes()[static_cast<size_t>(dim)];
  const auto broadcast = [&](const Tensor& values) {
    DimVector shape(static_cast<size_t>(parts.dim() - dim), 1);
    shape[0] = values.numel();
    return boxcar::reshape(values, shape);
  };
  const auto [begin, last] = partsMet(out, in, parts.device());
  const Tensor means = boxcar::div(parts, broadcast(boxcar::add(boxcar::sub(last, begin), 1)));
  if (in < out) {
    const Tensor seconds = boxcar::where(broadcast(boxcar::ne(last, begin)), means, 0);
    return boxcar::index_add(boxcar::index_add(zerosAlong(parts, dim, in), dim, begin, means), dim, last, seconds);
  }
  const auto [first_window, last_window] = partsMet(in, out, parts.device());
  if (in % out == 0) return boxcar::index_select(means, dim, first_window);
  const Tensor seconds =
      boxcar::where(broadcast(boxcar::ne(last_window, first_window)), boxcar::index_select(means, dim, last_window), 0);
  return boxcar::add(boxcar::index_select(means, dim, first_window), seconds);
}

// Returns the sizes of the result of an adaptive pool of [self], from its gradient.
DimVector checkAdaptiveGradient(std::string_view op, size_t rank, const Tensor& grad_output, const Tensor& self) {
  BOXCAR_CHECK(self.sizes().size() >= rank && grad_output.dim() == self.dim(),
               "{}: grad_output and self must have the same {} or {} dimensions, but they are of size {} and {}", op,
               rank + 1, rank + 2, meta::listOf(grad_output.sizes()), meta::listOf(self.sizes()));
  const IntSpan windows = grad_output.sizes().last(rank);
  BOXCAR_CHECK(std::ranges::all_of(windows, [](int64_t n) { return n > 0; }),
               "{}: grad_output must have no empty dimension except the batch, but it is of size {}", op,
               meta::listOf(grad_output.sizes()));
  DimVector sizes = meta::checkAdaptivePool(op, rank, self, windows, /*may_lack_channels=*/false).output_sizes;
  checkPooledGradient(op, grad_output, self, sizes);
  checkFloatingPool(op, self);
  return sizes;
}

Tensor adaptiveAvgPoolBackward(std::string_view op, size_t rank, const Tensor& grad_output, const Tensor& self) {
  checkAdaptiveGradient(op, rank, grad_output, self);
  Tensor parts = widened(grad_output);
  for (int64_t dim = self.dim() - static_cast<int64_t>(rank); dim < self.dim(); ++dim) {
    parts = spreadAdaptive(parts, dim, self.size(dim));
  }
  return gradientLike(self, parts);
}
Tensor adaptiveAvgPool2dBackward(const Tensor& grad_output, const Tensor& self) {
  return adaptiveAvgPoolBackward("_adaptive_avg_pool2d_backward", 2, grad_output, self);
}
Tensor adaptiveAvgPool3dBackward(const Tensor& grad_output, const Tensor& self) {
  return adaptiveAvgPoolBackward("_adaptive_avg_pool3d_backward", 3, grad_output, self);
}

// Adds each element of the gradient to the one that [indices] says, among all of the [rank] spatial dimensions. If
// [may_be_outside], an index that is none of an element has no gradient; else it is an Error.
Tensor spreadMaxima(std::string_view op, size_t rank, const Tensor& grad_output, const Tensor& self,
                    const Tensor& indices, bool may_be_outside = false) {
  checkFloatingPool(op, self);
  BOXCAR_CHECK(indices.scalar_type() == ScalarType::Long && std::ranges::equal(indices.sizes(), grad_output.sizes()),
               "{}: indices must be int64 of the size {} of the pool's result, but they are {} of size {}", op,
               meta::listOf(grad_output.sizes()), dtypeName(indices.scalar_type()), meta::listOf(indices.sizes()));
  const Tensor parts = widened(grad_output);
  const Tensor result = boxcar::zeros(self.sizes(), parts.scalar_type(), std::nullopt, self.device());
  if (result.numel() == 0) return gradientLike(self, result);
  // One row for each channel of each sample.
  const auto rowsOf = [&](const Tensor& images) {
    return boxcar::flatten(boxcar::flatten(images, -static_cast<int64_t>(rank), -1), 0, -2);
  };
  Tensor rows = rowsOf(result);
  Tensor places = rowsOf(indices);
  Tensor sources = rowsOf(parts);
  if (may_be_outside) {
    const Tensor outside = boxcar::ge(places, rows.size(1));
    places = boxcar::masked_fill(places, outside, 0);
    sources = boxcar::masked_fill(sources, outside, 0);
  }
  boxcar::scatter_add_(rows, 1, places, sources);
  return gradientLike(self, result);
}

// Whether a window has no element: dilated ones may step over all. The pool says then that its maximum is outside.
bool hasEmptyWindow(const WindowAxis& axis) {
  for (int64_t o = 0; o < axis.out; ++o) {
    const functors::WindowRange range = axis.at(o);
    if (range.begin >= range.end) return true;
  }
  return false;
}

Tensor maxPoolBackward(std::string_view op, size_t rank, const Tensor& grad_output, const Tensor& self,
                       IntSpan kernel_size, IntSpan stride, IntSpan padding, IntSpan dilation, bool ceil_mode,
                       const Tensor& indices) {
  const meta::Pool pool = meta::checkPool(op, rank, self, kernel_size, stride, padding, dilation, ceil_mode);
  checkPooledGradient(op, grad_output, self, pool.output_sizes);
  const size_t first = self.sizes().size() - rank;
  bool may_be_outside = false;
  for (size_t i = 0; i < rank && !self.is_meta(); ++i) {
    may_be_outside =
        may_be_outside || hasEmptyWindow({self.sizes()[first + i], pool.output_sizes[first + i], false, pool.kernel[i],
                                          pool.stride[i], pool.padding[i], pool.dilation[i]});
  }
  return spreadMaxima(op, rank, grad_output, self, indices, may_be_outside);
}
Tensor maxPool2dBackward(const Tensor& grad_output, const Tensor& self, IntSpan kernel_size, IntSpan stride,
                         IntSpan padding, IntSpan dilation, bool ceil_mode, const Tensor& indices) {
  return maxPoolBackward("max_pool2d_with_indices_backward", 2, grad_output, self, kernel_size, stride, padding,
                         dilation, ceil_mode, indices);
}
Tensor maxPool3dBackward(const Tensor& grad_output, const Tensor& self, IntSpan kernel_size, IntSpan stride,
                         IntSpan padding, IntSpan dilation, bool ceil_mode, const Tensor& indices) {
  return maxPoolBackward("max_pool3d_with_indices_backward", 3, grad_output, self, kernel_size, stride, padding,
                         dilation, ceil_mode, indices);
}

Tensor adaptiveMaxPool2dBackward(const Tensor& grad_output, const Tensor& self, const Tensor& indices) {
  constexpr std::string_view kName = "adaptive_max_pool2d_backward";
  checkAdaptiveGradient(kName, 2, grad_output, self);
  return spreadMaxima(kName, 2, grad_output, self, indices);
}
Tensor adaptiveMaxPool3dBackward(const Tensor& grad_output, const Tensor& self, const Tensor& indices) {
  constexpr std::string_view kName = "adaptive_max_pool3d_backward";
  checkAdaptiveGradient(kName, 3, grad_output, self);
  return spreadMaxima(kName, 3, grad_output, self, indices);
}

// The sizes of the windows do not change the result.
Tensor fractionalMaxPoolBackward(std::string_view op, size_t rank, const Tensor& grad_output, const Tensor& self,
                                 IntSpan output_size, const Tensor& indices) {
  const DimVector sizes = checkAdaptiveGradient(op, rank, grad_output, self);
  BOXCAR_CHECK(std::ranges::equal(output_size, IntSpan(sizes).last(rank)),
               "{}: output_size must be that of grad_output, {}, but it is {}", op, meta::listOf(sizes),
               meta::listOf(output_size));
  return spreadMaxima(op, rank, grad_output, self, indices);
}
Tensor fractionalMaxPool2dBackward(const Tensor& grad_output, const Tensor& self, IntSpan /*kernel_size*/,
                                   IntSpan output_size, const Tensor& indices) {
  return fractionalMaxPoolBackward("fractional_max_pool2d_backward", 2, grad_output, self, output_size, indices);
}
Tensor fractionalMaxPool3dBackward(const Tensor& grad_output, const Tensor& self, IntSpan /*kernel_size*/,
                                   IntSpan output_size, const Tensor& indices) {
  return fractionalMaxPoolBackward("fractional_max_pool3d_backward", 3, grad_output, self, output_size, indices);
}

Tensor& maxPool2dBackwardOut(const Tensor& grad_output, const Tensor& self, IntSpan kernel_size, IntSpan stride,
                             IntSpan padding, IntSpan dilation, bool ceil_mode, const Tensor& indices,
                             Tensor& grad_input) {
  return writeSameType(
      grad_input, maxPool2dBackward(grad_output, self, kernel_size, stride, padding, dilation, ceil_mode, indices));
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("avg_pool2d_backward", BOXCAR_FN(avgPool2dBackward));
  m.impl("avg_pool2d_backward.grad_input", BOXCAR_FN(avgPool2dBackwardOut));
  m.impl("avg_pool3d_backward", BOXCAR_FN(avgPool3dBackward));
  m.impl("_adaptive_avg_pool2d_backward", BOXCAR_FN(adaptiveAvgPool2dBackward));
  m.impl("_adaptive_avg_pool3d_backward", BOXCAR_FN(adaptiveAvgPool3dBackward));
  m.impl("adaptive_max_pool2d_backward", BOXCAR_FN(adaptiveMaxPool2dBackward));
  m.impl("adaptive_max_pool3d_backward", BOXCAR_FN(adaptiveMaxPool3dBackward));
  m.impl("fractional_max_pool2d_backward", BOXCAR_FN(fractionalMaxPool2dBackward));
  m.impl("fractional_max_pool3d_backward", BOXCAR_FN(fractionalMaxPool3dBackward));
  m.impl("max_pool2d_with_indices_backward", BOXCAR_FN(maxPool2dBackward));
  m.impl("max_pool2d_with_indices_backward.grad_input", BOXCAR_FN(maxPool2dBackwardOut));
  m.impl("max_pool3d_with_indices_backward", BOXCAR_FN(maxPool3dBackward));
}

}  // namespace boxcar::composite
