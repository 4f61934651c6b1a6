#include <boxcar/backends/composite/dtype.h>
#include <boxcar/backends/composite/window_counts.h>
#include <boxcar/backends/composite/write_out.h>
#include <boxcar/backends/functors/windows.h>
#include <boxcar/backends/meta/pooling.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>

#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>

// Pools of volumes are two pools of images: one over height and width, and one over depth. A maximum or a mean over a
// window is that of the maxima or means of its slices, because all slices of a window have the same size.

namespace boxcar::composite {
namespace {

using IntSpan = std::span<const int64_t>;
using Pair = std::tuple<Tensor, Tensor>;

// The sizes of volumes, [N, C, D, H, W] or [C, D, H, W], and of the result of their pool.
struct Volumes {
  DimVector sizes;
  int64_t outer = 1;
  std::array<int64_t, 3> in;
  std::array<int64_t, 3> out;

  Volumes(const Tensor& self, const DimVector& output_sizes) : sizes(output_sizes) {
    const size_t first = sizes.size() - 3;
    for (size_t i = 0; i < first; ++i) outer *= sizes[i];
    std::ranges::copy(self.sizes().subspan(first), in.begin());
    std::ranges::copy(IntSpan(sizes).subspan(first), out.begin());
  }

  // [self] as images with a channel for each slice.
  Tensor slices(const Tensor& self) const { return boxcar::reshape(self, dimVector(outer, in[0], in[1], in[2])); }
  // The pooled slices as images, with a row for each slice.
  Tensor rows(const Tensor& pooled) const {
    return boxcar::reshape(pooled, dimVector(outer, int64_t{1}, in[0], out[1] * out[2]));
  }
  Tensor result(const Tensor& pooled) const { return boxcar::reshape(pooled, sizes); }

  // Returns the maxima of the slices' maxima [flat], at [flat_indices] of their slices, with their indices in volumes.
  Pair greatest(const Pair& flat, const Pair& deep) const {
    const int64_t pixels = out[1] * out[2];
    const Tensor places = boxcar::reshape(std::get<1>(deep), dimVector(outer, out[0] * pixels));
    const Tensor in_slices = boxcar::reshape(std::get<1>(flat), dimVector(outer, in[0] * pixels));
    const Tensor depths = boxcar::div(places, pixels, "floor");
    const Tensor indices = boxcar::add(boxcar::gather(in_slices, 1, places), depths, in[1] * in[2]);
    return {result(std::get<0>(deep)), result(indices)};
  }
};

// The arguments of the pools over height and width and over depth.
struct FlatAndDeep {
  std::array<int64_t, 2> flat;
  std::array<int64_t, 2> deep;
  FlatAndDeep(const DimVector& values, int64_t none) : flat{values[1], values[2]}, deep{values[0], none} {}
};

Pair maxPool3dWithIndices(const Tensor& self, IntSpan kernel_size, IntSpan stride, IntSpan padding, IntSpan dilation,
                          bool ceil_mode) {
  const meta::Pool pool = meta::checkPool("max_pool3d", 3, self, kernel_size, stride, padding, dilation, ceil_mode);
  const Volumes volumes(self, pool.output_sizes);
  const FlatAndDeep kernel(pool.kernel, 1), step(pool.stride, 1), pad(pool.padding, 0), spread(pool.dilation, 1);
  const Pair flat =
      boxcar::max_pool2d_with_indices(volumes.slices(self), kernel.flat, step.flat, pad.flat, spread.flat, ceil_mode);
  const Pair deep = boxcar::max_pool2d_with_indices(volumes.rows(std::get<0>(flat)), kernel.deep, step.deep, pad.deep,
                                                    spread.deep, ceil_mode);
  return volumes.greatest(flat, deep);
}
std::tuple<Tensor&, Tensor&> maxPool3dWithIndicesOut(const Tensor& self, IntSpan kernel_size, IntSpan stride,
                                                     IntSpan padding, IntSpan dilation, bool ceil_mode, Tensor& out,
                                                     Tensor& indices) {
  return writeSameTypes(maxPool3dWithIndices(self, kernel_size, stride, padding, dilation, ceil_mode), out, indices);
}

Tensor maxPool3d(const Tensor& self, IntSpan kernel_size, IntSpan stride, IntSpan padding, IntSpan dilation,
                 bool ceil_mode) {
  return std::get<0>(boxcar::max_pool3d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode));
}

// Returns the number of elements in each window of [pool].
Tensor windowElements(const meta::Pool& pool, const Volumes& volumes, bool with_padding, Device device) {
  Tensor result;
  for (size_t i = 0; i < 3; ++i) {
    const functors::WindowAxis axis{volumes.in[i],  volumes.out[i],  false, pool.kernel[i],
                                    pool.stride[i], pool.padding[i], 1};
    const Tensor along = windowCounts(axis, with_padding, device);
    result = i == 0 ? along : boxcar::mul(boxcar::unsqueeze(result, -1), along);
  }
  return result;
}

Tensor avgPool3d(const Tensor& self, IntSpan kernel_size, IntSpan stride, IntSpan padding, bool ceil_mode,
                 bool count_include_pad, std::optional<int64_t> divisor_override) {
  BOXCAR_CHECK(divisor_override != 0, "avg_pool3d: divisor_override must not be zero");
  const meta::Pool pool =
      meta::checkPool("avg_pool3d", 3, self, kernel_size, stride, padding, dimVector(int64_t{1}), ceil_mode);
  const Volumes volumes(self, pool.output_sizes);
  const FlatAndDeep kernel(pool.kernel, 1), step(pool.stride, 1), pad(pool.padding, 0);
  // A quotient of integers is rounded once, so their sums are divided at the end.
  const bool sums = !self.is_floating_point();
  const std::optional<int64_t> one = sums || divisor_override.has_value() ? std::optional<int64_t>(1) : std::nullopt;
  const Tensor flat = boxcar::avg_pool2d(volumes.slices(widened(self)), kernel.flat, step.flat, pad.flat, ceil_mode,
                                         count_include_pad, one);
  Tensor deep = volumes.result(boxcar::avg_pool2d(volumes.rows(flat), kernel.deep, step.deep, pad.deep, ceil_mode,
                                                  count_include_pad, sums ? one : divisor_override));
  if (!sums) return converted(deep, self.scalar_type());
  if (divisor_override.has_value()) return boxcar::div(deep, *divisor_override, "trunc");
  return boxcar::div(deep, windowElements(pool, volumes, count_include_pad, self.device()), "trunc");
}
Tensor& avgPool3dOut(const Tensor& self, IntSpan kernel_size, IntSpan stride, IntSpan padding, bool ceil_mode,
                     bool count_include_pad, std::optional<int64_t> divisor_override, Tensor& out) {
  return writeSameType(out,
                       avgPool3d(self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override));
}

// Returns a result without elements.
Tensor emptyOf(const Tensor& self, const DimVector& sizes, ScalarType type) {
  return boxcar::empty(sizes, type, std::nullopt, self.device());
}

Pair adaptiveMaxPool3d(const Tensor& self, IntSpan output_size) {
  const meta::AdaptivePool pool =
      meta::checkAdaptivePool("adaptive_max_pool3d", 3, self, output_size, /*may_lack_channels=*/false);
  const Volumes volumes(self, pool.output_sizes);
  if (volumes.out[0] * volumes.out[1] * volumes.out[2] == 0) {
    return {emptyOf(self, volumes.sizes, self.scalar_type()), emptyOf(self, volumes.sizes, ScalarType::Long)};
  }
  const Pair flat = boxcar::adaptive_max_pool2d(volumes.slices(self), dimVector(volumes.out[1], volumes.out[2]));
  return volumes.greatest(flat,
                          boxcar::adaptive_max_pool2d(volumes.rows(std::get<0>(flat)),
                                                      dimVector(volumes.out[0], volumes.out[1] * volumes.out[2])));
}
std::tuple<Tensor&, Tensor&> adaptiveMaxPool3dOut(const Tensor& self, IntSpan output_size, Tensor& out,
                                                  Tensor& indices) {
  return writeSameTypes(adaptiveMaxPool3d(self, output_size), out, indices);
}

Tensor adaptiveAvgPool3dByAxes(const Tensor& self, IntSpan output_size) {
  constexpr std::string_view kName = "adaptive_avg_pool3d";
  const meta::AdaptivePool pool = meta::checkAdaptivePool(kName, 3, self, output_size, /*may_lack_channels=*/false);
  BOXCAR_CHECK(self.is_floating_point(), "{}: expected elements of a floating-point type, but got {}", kName,
               dtypeName(self.scalar_type()));
  const Volumes volumes(self, pool.output_sizes);
  if (volumes.outer * volumes.out[0] * volumes.out[1] * volumes.out[2] == 0) {
    return emptyOf(self, volumes.sizes, self.scalar_type());
  }
  const Tensor flat =
      boxcar::_adaptive_avg_pool2d(volumes.slices(widened(self)), dimVector(volumes.out[1], volumes.out[2]));
  const Tensor deep =
      boxcar::_adaptive_avg_pool2d(volumes.rows(flat), dimVector(volumes.out[0], volumes.out[1] * volumes.out[2]));
  return converted(volumes.result(deep), self.scalar_type());
}

// With a single window, this is the mean of all elements, which has its own kernel.
Tensor adaptiveAvgPool3d(const Tensor& self, IntSpan output_size) {
  const bool is_volume = self.dim() == 4 || self.dim() == 5;
  const bool is_one = output_size.size() == 3 && std::ranges::all_of(output_size, [](int64_t n) { return n == 1; });
  if (!is_volume || !is_one || self.numel() == 0 || !self.is_floating_point()) {
    return boxcar::_adaptive_avg_pool3d(self, output_size);
  }
  return boxcar::mean(self, dimVector(int64_t{-1}, int64_t{-2}, int64_t{-3}), /*keepdim=*/true);
}
Tensor& adaptiveAvgPool3dOut(const Tensor& self, IntSpan output_size, Tensor& out) {
  return writeSameType(out, adaptiveAvgPool3dByAxes(self, output_size));
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) {
  m.impl("max_pool3d", BOXCAR_FN(maxPool3d));
  m.impl("adaptive_avg_pool3d", BOXCAR_FN(adaptiveAvgPool3d));
}

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("max_pool3d_with_indices", BOXCAR_FN(maxPool3dWithIndices));
  m.impl("max_pool3d_with_indices.out", BOXCAR_FN(maxPool3dWithIndicesOut));
  m.impl("avg_pool3d", BOXCAR_FN(avgPool3d));
  m.impl("avg_pool3d.out", BOXCAR_FN(avgPool3dOut));
  m.impl("adaptive_max_pool3d", BOXCAR_FN(adaptiveMaxPool3d));
  m.impl("adaptive_max_pool3d.out", BOXCAR_FN(adaptiveMaxPool3dOut));
  m.impl("_adaptive_avg_pool3d", BOXCAR_FN(adaptiveAvgPool3dByAxes));
  m.impl("adaptive_avg_pool3d.out", BOXCAR_FN(adaptiveAvgPool3dOut));
}

}  // namespace boxcar::composite
