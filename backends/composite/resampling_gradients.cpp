#include <boxcar/backends/composite/dtype.h>
#include <boxcar/backends/composite/resampling_taps.h>
#include <boxcar/backends/functors/pads.h>
#include <boxcar/backends/meta/factories.h>
#include <boxcar/backends/meta/pads.h>
#include <boxcar/backends/meta/spatial.h>
#include <boxcar/backends/meta/upsample.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string_view>

// Gradients of resizing and of padding with the tensor's own elements: along one dimension after the other, the
// gradient of each element of the result is added to the elements that it was made of.

namespace boxcar::composite {
namespace {

using IntSpan = std::span<const int64_t>;
using Scale = std::optional<double>;
using Scales = std::span<const Scale>;

// Throws Error unless the gradient is of [sizes], the size of the result.
void checkSpread(std::string_view op, const Tensor& grad_output, IntSpan sizes, bool may_be_complex) {
  const bool fits = grad_output.is_floating_point() || (may_be_complex && grad_output.is_complex());
  BOXCAR_CHECK(fits && std::ranges::equal(grad_output.sizes(), sizes),
               "{}: grad_output must be floats of the size {} of the result, but it is {} of size {}", op,
               meta::listOf(sizes), dtypeName(grad_output.scalar_type()), meta::listOf(grad_output.sizes()));
}

// Returns [size] sums along [dim].
template <class C>
Tensor spread(const Tensor& grad, int64_t dim, int64_t size, const Taps<C>& taps) {
  DimVector sizes = toDimVector(grad.sizes());
  sizes[static_cast<size_t>(dim)] = size;
  DimVector shape(sizes.size(), 1);
  shape[static_cast<size_t>(dim)] = taps.size();
  Tensor sums = boxcar::new_zeros(grad, sizes);
  for (int64_t k = 0; k < taps.count; ++k) {
    const Tensor parts =
        taps.weights.empty() ? grad : boxcar::mul(grad, boxcar::reshape(taps.weightsOf(k, grad.device()), shape));
    boxcar::index_add_(sums, dim, taps.indicesOf(k, grad.device()), parts);
  }
  return sums;
}

// How each dimension was resized.
enum class Resizing { kNearest, kNearestExact, kLinear, kCubic, kSmoothLinear, kSmoothCubic };

template <class C>
Taps<C> tapsOf(Resizing how, int64_t in, int64_t out, bool align_corners, Scale scale) {
  switch (how) {
    case Resizing::kNearest: return nearestTaps<C>(in, out, scale, /*of_centres=*/false);
    case Resizing::kNearestExact: return nearestTaps<C>(in, out, scale, /*of_centres=*/true);
    case Resizing::kLinear: return linearTaps<C>(in, out, align_corners, scale);
    case Resizing::kCubic: return cubicTaps<C>(in, out, align_corners, scale);
    case Resizing::kSmoothLinear: return smoothTaps<LinearWindow, C>(in, out, align_corners, scale);
    default: return smoothTaps<CubicWindow, C>(in, out, align_corners, scale);
  }
}

Tensor resizedBackward(std::string_view op, Resizing how, const Tensor& grad_output, IntSpan output_size,
                       IntSpan input_size, bool align_corners, Scales scales) {
  const size_t rank = scales.size();
  BOXCAR_CHECK(output_size.size() == rank && input_size.size() == rank + 2,
               "{}: output_size must be {} ints and input_size {}, but they are {} and {}", op, rank, rank + 2,
               meta::listOf(output_size), meta::listOf(input_size));
  const Tensor input = boxcar::empty(input_size, grad_output.scalar_type(), std::nullopt, Device(DeviceType::Meta));
  checkSpread(op, grad_output, meta::upsampledSizes(op, input, output_size), /*may_be_complex=*/false);
  if (grad_output.is_meta() || grad_output.numel() == 0) return boxcar::new_zeros(grad_output, input_size);
  Tensor sums = widened(grad_output);
  for (size_t i = 0; i < rank; ++i) {
    const auto dim = static_cast<int64_t>(i) + 2;
    const int64_t in = input_size[i + 2];
    const bool is_double = sums.scalar_type() == ScalarType::Double;
    sums = is_double ? spread(sums, dim, in, tapsOf<double>(how, in, output_size[i], align_corners, scales[i]))
                     : spread(sums, dim, in, tapsOf<float>(how, in, output_size[i], align_corners, scales[i]));
  }
  return boxcar::contiguous(converted(sums, grad_output.scalar_type()), meta::formatOf(grad_output));
}

struct Nearest1d {
  static constexpr std::string_view kName = "upsample_nearest1d_backward";
  static constexpr Resizing kHow = Resizing::kNearest;
};
struct Nearest2d {
  static constexpr std::string_view kName = "upsample_nearest2d_backward";
  static constexpr Resizing kHow = Resizing::kNearest;
};
struct Nearest3d {
  static constexpr std::string_view kName = "upsample_nearest3d_backward";
  static constexpr Resizing kHow = Resizing::kNearest;
};
struct NearestExact1d {
  static constexpr std::string_view kName = "_upsample_nearest_exact1d_backward";
  static constexpr Resizing kHow = Resizing::kNearestExact;
};
struct NearestExact2d {
  static constexpr std::string_view kName = "_upsample_nearest_exact2d_backward";
  static constexpr Resizing kHow = Resizing::kNearestExact;
};
struct NearestExact3d {
  static constexpr std::string_view kName = "_upsample_nearest_exact3d_backward";
  static constexpr Resizing kHow = Resizing::kNearestExact;
};
struct Linear1d {
  static constexpr std::string_view kName = "upsample_linear1d_backward";
  static constexpr Resizing kHow = Resizing::kLinear;
};
struct Bilinear2d {
  static constexpr std::string_view kName = "upsample_bilinear2d_backward";
  static constexpr Resizing kHow = Resizing::kLinear;
};
struct Trilinear3d {
  static constexpr std::string_view kName = "upsample_trilinear3d_backward";
  static constexpr Resizing kHow = Resizing::kLinear;
};
struct Bicubic2d {
  static constexpr std::string_view kName = "upsample_bicubic2d_backward";
  static constexpr Resizing kHow = Resizing::kCubic;
};
struct SmoothBilinear2d {
  static constexpr std::string_view kName = "_upsample_bilinear2d_aa_backward";
  static constexpr Resizing kHow = Resizing::kSmoothLinear;
};
struct SmoothBicubic2d {
  static constexpr std::string_view kName = "_upsample_bicubic2d_aa_backward";
  static constexpr Resizing kHow = Resizing::kSmoothCubic;
};

template <class Of, class... Scale_>
Tensor nearestBackward(const Tensor& grad_output, IntSpan output_size, IntSpan input_size, Scale_... scales) {
  return resizedBackward(Of::kName, Of::kHow, grad_output, output_size, input_size, false,
                         std::array<Scale, sizeof...(scales)>{scales...});
}
template <class Of, class... Scale_>
Tensor alignedBackward(const Tensor& grad_output, IntSpan output_size, IntSpan input_size, bool align_corners,
                       Scale_... scales) {
  return resizedBackward(Of::kName, Of::kHow, grad_output, output_size, input_size, align_corners,
                         std::array<Scale, sizeof...(scales)>{scales...});
}

// == Pads ==

template <size_t rank, bool reflects>
Tensor padBackward(const Tensor& grad_output, const Tensor& self, IntSpan padding) {
  constexpr std::string_view kNames[][3] = {
      {"replication_pad1d_backward", "replication_pad2d_backward", "replication_pad3d_backward"},
      {"reflection_pad1d_backward", "reflection_pad2d_backward", "reflection_pad3d_backward"}};
  constexpr std::string_view kName = kNames[reflects ? 1 : 0][rank - 1];
  const DimVector sizes = meta::mirroredSizes(kName, self, padding, rank, reflects);
  checkSpread(kName, grad_output, sizes, /*may_be_complex=*/true);
  if (grad_output.is_meta() || self.numel() == 0) return boxcar::new_zeros(grad_output, self.sizes());
  Tensor sums = widened(grad_output);
  for (size_t i = 0; i < rank; ++i) {
    const size_t dim = sizes.size() - 1 - i;
    const functors::PaddedAxis axis{self.sizes()[dim], sizes[dim], padding[2 * i], reflects};
    Taps<float> taps{1, {}, {}};
    for (int64_t k = 0; k < axis.padded; ++k) {
      checkStop();
      taps.indices.push_back(axis.source(k));
    }
    sums = spread(sums, static_cast<int64_t>(dim), axis.size, taps);
  }
  return boxcar::contiguous(converted(sums, grad_output.scalar_type()));
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("upsample_nearest1d_backward", BOXCAR_FN((nearestBackward<Nearest1d, Scale>)));
  m.impl("upsample_nearest2d_backward", BOXCAR_FN((nearestBackward<Nearest2d, Scale, Scale>)));
  m.impl("upsample_nearest3d_backward", BOXCAR_FN((nearestBackward<Nearest3d, Scale, Scale, Scale>)));
  m.impl("_upsample_nearest_exact1d_backward", BOXCAR_FN((nearestBackward<NearestExact1d, Scale>)));
  m.impl("_upsample_nearest_exact2d_backward", BOXCAR_FN((nearestBackward<NearestExact2d, Scale, Scale>)));
  m.impl("_upsample_nearest_exact3d_backward", BOXCAR_FN((nearestBackward<NearestExact3d, Scale, Scale, Scale>)));
  m.impl("upsample_linear1d_backward", BOXCAR_FN((alignedBackward<Linear1d, Scale>)));
  m.impl("upsample_bilinear2d_backward", BOXCAR_FN((alignedBackward<Bilinear2d, Scale, Scale>)));
  m.impl("upsample_trilinear3d_backward", BOXCAR_FN((alignedBackward<Trilinear3d, Scale, Scale, Scale>)));
  m.impl("upsample_bicubic2d_backward", BOXCAR_FN((alignedBackward<Bicubic2d, Scale, Scale>)));
  m.impl("_upsample_bilinear2d_aa_backward", BOXCAR_FN((alignedBackward<SmoothBilinear2d, Scale, Scale>)));
  m.impl("_upsample_bicubic2d_aa_backward", BOXCAR_FN((alignedBackward<SmoothBicubic2d, Scale, Scale>)));
  m.impl("reflection_pad1d_backward", BOXCAR_FN((padBackward<1, true>)));
  m.impl("reflection_pad2d_backward", BOXCAR_FN((padBackward<2, true>)));
  m.impl("reflection_pad3d_backward", BOXCAR_FN((padBackward<3, true>)));
  m.impl("replication_pad1d_backward", BOXCAR_FN((padBackward<1, false>)));
  m.impl("replication_pad2d_backward", BOXCAR_FN((padBackward<2, false>)));
  m.impl("replication_pad3d_backward", BOXCAR_FN((padBackward<3, false>)));
}

}  // namespace boxcar::composite
