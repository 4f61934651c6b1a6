#include <boxcar/backends/composite/dtype.h>
#include <boxcar/backends/composite/window_counts.h>
#include <boxcar/backends/composite/write_out.h>
#include <boxcar/backends/functors/windows.h>
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

// Gradients of pools of images. Windows are products of rows and columns, so what each window gives to its elements is
// first given to columns of rows, and then to elements. Nothing is multiplied by zero, so that NaN and infinity stay in
// their windows.

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
  const MemoryFormat format = meta::suggestsChannelsLast(self) ? MemoryFormat::ChannelsLast : MemoryFormat::Contiguous;
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

Tensor avgPool2dBackward(const Tensor& grad_output, const Tensor& self, IntSpan kernel_size, IntSpan stride,
                         IntSpan padding, bool ceil_mode, bool count_include_pad,
                         std::optional<int64_t> divisor_override) {
  constexpr std::string_view kName = "avg_pool2d_backward";
  BOXCAR_CHECK(divisor_override != 0, "{}: divisor_override must not be zero", kName);
  const meta::Pool pool =
      meta::checkPool(kName, 2, self, kernel_size, stride, padding, dimVector(int64_t{1}), ceil_mode);
  checkPooledGradient(kName, grad_output, self, pool.output_sizes);
  const bool is_integer = self.scalar_type() == ScalarType::Long;
  if (!is_integer) checkFloatingPool(kName, self);
  const int64_t down = self.dim() - 2;
  const auto along = [&](size_t i) {
    const auto dim = static_cast<size_t>(down) + i;
    return WindowAxis{self.sizes()[dim], pool.output_sizes[dim], false, pool.kernel[i],
                      pool.stride[i],    pool.padding[i],        1};
  };
  const WindowAxis rows = along(0);
  const WindowAxis columns = along(1);
  const Tensor counts = divisor_override.has_value()
                            ? boxcar::scalar_tensor(*divisor_override, ScalarType::Long, std::nullopt, self.device())
                            : boxcar::mul(boxcar::unsqueeze(windowCounts(rows, count_include_pad, self.device()), 1),
                                          windowCounts(columns, count_include_pad, self.device()));
  const Tensor parts =
      is_integer ? boxcar::div(grad_output, counts, "trunc") : boxcar::div(widened(grad_output), counts);
  return gradientLike(self, spreadWindows(spreadWindows(parts, down, rows), down + 1, columns));
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
  const bool lies_last = dim + 1 == parts.dim();
  const auto broadcast = [&](const Tensor& values) { return lies_last ? values : boxcar::unsqueeze(values, 1); };
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

Tensor adaptiveAvgPool2dBackward(const Tensor& grad_output, const Tensor& self) {
  constexpr std::string_view kName = "_adaptive_avg_pool2d_backward";
  BOXCAR_CHECK(self.dim() >= 2 && grad_output.dim() == self.dim(),
               "{}: grad_output and self must have the same 3 or 4 dimensions, but they are of size {} and {}", kName,
               meta::listOf(grad_output.sizes()), meta::listOf(self.sizes()));
  const IntSpan windows = grad_output.sizes().last(2);
  BOXCAR_CHECK(windows[0] > 0 && windows[1] > 0,
               "{}: grad_output must have no empty dimension except the batch, but it is of size {}", kName,
               meta::listOf(grad_output.sizes()));
  const meta::AdaptivePool pool = meta::checkAdaptivePool(kName, 2, self, windows, /*may_lack_channels=*/false);
  checkPooledGradient(kName, grad_output, self, pool.output_sizes);
  checkFloatingPool(kName, self);
  const int64_t down = self.dim() - 2;
  const Tensor rows = spreadAdaptive(widened(grad_output), down, self.size(-2));
  return gradientLike(self, spreadAdaptive(rows, down + 1, self.size(-1)));
}

Tensor maxPool2dBackward(const Tensor& grad_output, const Tensor& self, IntSpan kernel_size, IntSpan stride,
                         IntSpan padding, IntSpan dilation, bool ceil_mode, const Tensor& indices) {
  constexpr std::string_view kName = "max_pool2d_with_indices_backward";
  const meta::Pool pool = meta::checkPool(kName, 2, self, kernel_size, stride, padding, dilation, ceil_mode);
  checkPooledGradient(kName, grad_output, self, pool.output_sizes);
  checkFloatingPool(kName, self);
  BOXCAR_CHECK(indices.scalar_type() == ScalarType::Long && std::ranges::equal(indices.sizes(), grad_output.sizes()),
               "{}: indices must be int64 of the size {} of the pool's result, but they are {} of size {}", kName,
               meta::listOf(grad_output.sizes()), dtypeName(indices.scalar_type()), meta::listOf(indices.sizes()));
  const Tensor parts = widened(grad_output);
  const Tensor result = boxcar::zeros(self.sizes(), parts.scalar_type(), std::nullopt, self.device());
  if (result.numel() == 0) return gradientLike(self, result);
  // One row for each channel of each sample.
  const auto rowsOf = [](const Tensor& images) { return boxcar::flatten(boxcar::flatten(images, -2, -1), 0, -2); };
  Tensor rows = rowsOf(result);
  boxcar::scatter_add_(rows, 1, rowsOf(indices), rowsOf(parts));
  return gradientLike(self, result);
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
  m.impl("_adaptive_avg_pool2d_backward", BOXCAR_FN(adaptiveAvgPool2dBackward));
  m.impl("max_pool2d_with_indices_backward", BOXCAR_FN(maxPool2dBackward));
  m.impl("max_pool2d_with_indices_backward.grad_input", BOXCAR_FN(maxPool2dBackwardOut));
}

}  // namespace boxcar::composite
