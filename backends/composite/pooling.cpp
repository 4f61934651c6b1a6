#include <boxcar/backends/meta/spatial.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>

#include <array>
#include <span>
#include <string_view>
#include <tuple>

// 1D pooling is 2D pooling over images with one row.

namespace boxcar::composite {
namespace {

using IntSpan = std::span<const int64_t>;
using Pair = std::tuple<Tensor, Tensor>;

void checkSignals(std::string_view op, const Tensor& self) {
  const auto sizes = self.sizes();
  bool fits = sizes.size() == 2 || sizes.size() == 3;
  for (size_t i = sizes.size() == 3 ? 1 : 0; fits && i < sizes.size(); ++i) fits = sizes[i] > 0;
  BOXCAR_CHECK(fits, "{}: expected a 2D or 3D input with no empty dimension except the batch, but got one of size {}",
               op, meta::listOf(sizes));
}

// Returns [row], the value for an image's row dimension, followed by the single number of argument [name].
std::array<int64_t, 2> after(int64_t row, std::string_view op, std::string_view name, IntSpan values) {
  BOXCAR_CHECK(values.size() == 1, "{}: {} must be one int, but it is {}", op, name, meta::listOf(values));
  return {row, values[0]};
}

Pair squeezed(const Pair& pair) {
  return {boxcar::squeeze(std::get<0>(pair), -2), boxcar::squeeze(std::get<1>(pair), -2)};
}

Pair maxPool1dWithIndices(const Tensor& self, IntSpan kernel_size, IntSpan stride, IntSpan padding, IntSpan dilation,
                          bool ceil_mode) {
  constexpr std::string_view kName = "max_pool1d";
  checkSignals(kName, self);
  return squeezed(boxcar::max_pool2d_with_indices(
      boxcar::unsqueeze(self, -2), after(1, kName, "kernel_size", kernel_size),
      after(1, kName, "stride", stride.empty() ? kernel_size : stride), after(0, kName, "padding", padding),
      after(1, kName, "dilation", dilation), ceil_mode));
}

// The result is contiguous regardless of the input's layout.
Tensor maxPool1d(const Tensor& self, IntSpan kernel_size, IntSpan stride, IntSpan padding, IntSpan dilation,
                 bool ceil_mode) {
  return std::get<0>(
      boxcar::max_pool1d_with_indices(boxcar::contiguous(self), kernel_size, stride, padding, dilation, ceil_mode));
}

Tensor maxPool2d(const Tensor& self, IntSpan kernel_size, IntSpan stride, IntSpan padding, IntSpan dilation,
                 bool ceil_mode) {
  if (self.is_mkldnn()) return boxcar::mkldnn_max_pool2d(self, kernel_size, stride, padding, dilation, ceil_mode);
  return std::get<0>(boxcar::max_pool2d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode));
}

Tensor avgPool1d(const Tensor& self, IntSpan kernel_size, IntSpan stride, IntSpan padding, bool ceil_mode,
                 bool count_include_pad) {
  constexpr std::string_view kName = "avg_pool1d";
  checkSignals(kName, self);
  const Tensor result = boxcar::avg_pool2d(boxcar::unsqueeze(self, -2), after(1, kName, "kernel_size", kernel_size),
                                           after(1, kName, "stride", stride.empty() ? kernel_size : stride),
                                           after(0, kName, "padding", padding), ceil_mode, count_include_pad);
  return boxcar::squeeze(result, -2);
}

Tensor adaptiveAvgPool1d(const Tensor& self, IntSpan output_size) {
  constexpr std::string_view kName = "adaptive_avg_pool1d";
  checkSignals(kName, self);
  const Tensor result =
      boxcar::adaptive_avg_pool2d(boxcar::unsqueeze(self, -2), after(1, kName, "output_size", output_size));
  return boxcar::squeeze(result, -2);
}

Pair adaptiveMaxPool1d(const Tensor& self, IntSpan output_size) {
  constexpr std::string_view kName = "adaptive_max_pool1d";
  checkSignals(kName, self);
  return squeezed(
      boxcar::adaptive_max_pool2d(boxcar::unsqueeze(self, -2), after(1, kName, "output_size", output_size)));
}

// With a single window, this is the mean of all elements, which has its own kernel.
Tensor adaptiveAvgPool2d(const Tensor& self, IntSpan output_size) {
  const bool is_image = self.dim() == 3 || self.dim() == 4;
  const bool is_one = output_size.size() == 2 && output_size[0] == 1 && output_size[1] == 1;
  if (!is_image || !is_one || self.numel() == 0 || !self.is_floating_point() || self.is_mkldnn()) {
    return boxcar::_adaptive_avg_pool2d(self, output_size);
  }
  const int64_t dims[] = {-1, -2};
  Tensor result = boxcar::mean(self, dims, /*keepdim=*/true);
  if (!meta::suggestsChannelsLast(self)) return result;
  const int64_t channels = self.sizes()[1];
  const int64_t strides[] = {channels, 1, channels, channels};
  return boxcar::as_strided(result, result.sizes(), strides, std::nullopt);
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) {
  m.impl("max_pool1d", BOXCAR_FN(maxPool1d));
  m.impl("max_pool1d_with_indices", BOXCAR_FN(maxPool1dWithIndices));
  m.impl("max_pool2d", BOXCAR_FN(maxPool2d));
  m.impl("avg_pool1d", BOXCAR_FN(avgPool1d));
  m.impl("adaptive_avg_pool1d", BOXCAR_FN(adaptiveAvgPool1d));
  m.impl("adaptive_avg_pool2d", BOXCAR_FN(adaptiveAvgPool2d));
  m.impl("adaptive_max_pool1d", BOXCAR_FN(adaptiveMaxPool1d));
}

}  // namespace boxcar::composite
