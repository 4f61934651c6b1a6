#include <boxcar/backends/composite/dtype.h>
#include <boxcar/backends/composite/host_values.h>
#include <boxcar/backends/composite/resampling_taps.h>
#include <boxcar/backends/composite/write_out.h>
#include <boxcar/backends/meta/factories.h>
#include <boxcar/backends/meta/spatial.h>
#include <boxcar/backends/meta/upsample.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>

#include <array>
#include <optional>
#include <span>
#include <string_view>

// Resizing one dimension after the other: each element of a result is a sum of some elements along the dimension, which
// a table of indices and weights describes.

namespace boxcar::composite {
namespace {

using IntSpan = std::span<const int64_t>;
using Scale = std::optional<double>;
using Scales = std::span<const Scale>;
using OptionalSizes = std::optional<IntSpan>;
using OptionalFactors = std::optional<std::span<const double>>;

// Returns the sum over k of the elements at tap k of [taps] times their weights, along [dim].
template <class C>
Tensor blended(const Tensor& self, int64_t dim, const Taps<C>& taps) {
  DimVector shape(static_cast<size_t>(self.dim()), 1);
  shape[static_cast<size_t>(dim)] = taps.size();
  Tensor sum;
  for (int64_t k = 0; k < taps.count; ++k) {
    const Tensor part = boxcar::index_select(self, dim, taps.indicesOf(k, self.device()));
    const Tensor weight = boxcar::reshape(taps.weightsOf(k, self.device()), shape);
    sum = k == 0 ? boxcar::mul(part, weight) : boxcar::addcmul_(sum, part, weight);
  }
  return sum;
}

// Returns body(C()) for the type C that positions along dimensions of [self] are computed in. Without elements, only
// the sizes matter: those of [self] with [size] in dimension [dim].
template <class Body>
Tensor inCoordinates(const Tensor& self, int64_t dim, int64_t size, Body&& body) {
  if (self.is_meta() || self.numel() == 0) {
    DimVector sizes = toDimVector(self.sizes());
    sizes[static_cast<size_t>(dim)] = size;
    return boxcar::new_empty(self, sizes);
  }
  return self.scalar_type() == ScalarType::Double ? body(double()) : body(float());
}

Tensor cubicAlong(const Tensor& self, int64_t dim, int64_t size, bool align_corners, Scale scale) {
  return inCoordinates(self, dim, size, [&]<class C>(C) {
    return blended(self, dim, cubicTaps<C>(self.size(dim), size, align_corners, scale));
  });
}

Tensor linearAlong(const Tensor& self, int64_t dim, int64_t size, bool align_corners, Scale scale) {
  return inCoordinates(self, dim, size, [&]<class C>(C) {
    return blended(self, dim, linearTaps<C>(self.size(dim), size, align_corners, scale));
  });
}

template <class Window>
Tensor smoothAlong(const Tensor& self, int64_t dim, int64_t size, bool align_corners, Scale scale) {
  return inCoordinates(self, dim, size, [&]<class C>(C) {
    const Taps<C> taps = smoothTaps<Window, C>(self.size(dim), size, align_corners, scale);
    DimVector parts = toDimVector(self.sizes());
    parts[static_cast<size_t>(dim)] = size;
    parts.insert(parts.begin() + dim + 1, taps.count);
    DimVector of_weights(parts.size(), 1);
    of_weights[static_cast<size_t>(dim)] = size;
    of_weights[static_cast<size_t>(dim) + 1] = taps.count;
    const Tensor chosen = boxcar::index_select(self, dim, tensorOf<int64_t>(taps.indices, self.device()));
    const Tensor weighted = boxcar::mul(boxcar::reshape(chosen, parts),
                                        boxcar::reshape(tensorOf<C>(taps.weights, self.device()), of_weights));
    const int64_t summed[] = {dim + 1};
    return boxcar::sum(weighted, summed);
  });
}

Tensor nearestAlong(const Tensor& self, int64_t dim, int64_t size, Scale scale, bool of_centres) {
  return inCoordinates(self, dim, size, [&]<class C>(C) {
    const Taps<C> taps = nearestTaps<C>(self.size(dim), size, scale, of_centres);
    return boxcar::index_select(self, dim, tensorOf<int64_t>(taps.indices, self.device()));
  });
}

void checkFloats(std::string_view op, const Tensor& self) {
  BOXCAR_CHECK(self.is_floating_point(), "{}: expected elements of a floating-point type, but got {}", op,
               dtypeName(self.scalar_type()));
}

// Throws Error if [output_size] has not a number for each of [scales], or [self] does not fit.
void checkSizes(std::string_view op, const Tensor& self, IntSpan output_size, Scales scales) {
  BOXCAR_CHECK(output_size.size() == scales.size(), "{}: output_size must be a list of {} ints, but it is {}", op,
               scales.size(), meta::listOf(output_size));
  meta::upsampledSizes(op, self, output_size);
}

// Returns [result] in the memory format that the result of resizing [self] has.
Tensor inFormatOf(const Tensor& self, const Tensor& result) { return boxcar::contiguous(result, meta::formatOf(self)); }

Tensor nearest(std::string_view op, const Tensor& self, IntSpan output_size, Scales scales, bool of_centres) {
  checkSizes(op, self, output_size, scales);
  Tensor result = self;
  for (size_t i = 0; i < scales.size(); ++i) {
    result = nearestAlong(result, static_cast<int64_t>(i) + 2, output_size[i], scales[i], of_centres);
  }
  return inFormatOf(self, result);
}

Tensor bicubic2d(const Tensor& self, IntSpan output_size, bool align_corners, Scale scales_h, Scale scales_w) {
  constexpr std::string_view kName = "upsample_bicubic2d";
  checkFloats(kName, self);
  checkSizes(kName, self, output_size, std::array{scales_h, scales_w});
  const Tensor wide = cubicAlong(widened(self), 3, output_size[1], align_corners, scales_w);
  return inFormatOf(self, converted(cubicAlong(wide, 2, output_size[0], align_corners, scales_h), self.scalar_type()));
}
Tensor& bicubic2dOut(const Tensor& self, IntSpan output_size, bool align_corners, Scale scales_h, Scale scales_w,
                     Tensor& out) {
  return writeSameType(out, bicubic2d(self, output_size, align_corners, scales_h, scales_w));
}

template <class Window>
Tensor smooth2d(std::string_view op, const Tensor& self, IntSpan output_size, bool align_corners, Scale scales_h,
                Scale scales_w) {
  const bool is_bytes = self.scalar_type() == ScalarType::Byte;
  if (!is_bytes) checkFloats(op, self);
  checkSizes(op, self, output_size, std::array{scales_h, scales_w});
  const Tensor wide = is_bytes ? boxcar::to(self, ScalarType::Float) : widened(self);
  const Tensor rows = smoothAlong<Window>(wide, 3, output_size[1], align_corners, scales_w);
  const Tensor result = smoothAlong<Window>(rows, 2, output_size[0], align_corners, scales_h);
  const Tensor rounded = is_bytes ? boxcar::clamp(boxcar::round(result), Scalar(0), Scalar(255)) : result;
  return inFormatOf(self, converted(rounded, self.scalar_type()));
}
Tensor smoothBilinear2d(const Tensor& self, IntSpan output_size, bool align_corners, Scale scales_h, Scale scales_w) {
  return smooth2d<LinearWindow>("_upsample_bilinear2d_aa", self, output_size, align_corners, scales_h, scales_w);
}
Tensor smoothBicubic2d(const Tensor& self, IntSpan output_size, bool align_corners, Scale scales_h, Scale scales_w) {
  return smooth2d<CubicWindow>("_upsample_bicubic2d_aa", self, output_size, align_corners, scales_h, scales_w);
}

// Slices are resized as images first.
Tensor trilinear3d(const Tensor& self, IntSpan output_size, bool align_corners, Scale scales_d, Scale scales_h,
                   Scale scales_w) {
  constexpr std::string_view kName = "upsample_trilinear3d";
  checkFloats(kName, self);
  checkSizes(kName, self, output_size, std::array{scales_d, scales_h, scales_w});
  const auto in = self.sizes();
  const Tensor slices = boxcar::reshape(widened(self), dimVector(in[0], in[1] * in[2], in[3], in[4]));
  const Tensor resized = boxcar::upsample_bilinear2d(slices, output_size.subspan(1), align_corners, scales_h, scales_w);
  const Tensor volumes = boxcar::reshape(resized, dimVector(in[0], in[1], in[2], output_size[1], output_size[2]));
  const Tensor result = linearAlong(volumes, 2, output_size[0], align_corners, scales_d);
  return inFormatOf(self, converted(result, self.scalar_type()));
}
Tensor& trilinear3dOut(const Tensor& self, IntSpan output_size, bool align_corners, Scale scales_d, Scale scales_h,
                       Scale scales_w, Tensor& out) {
  return writeSameType(out, trilinear3d(self, output_size, align_corners, scales_d, scales_h, scales_w));
}

Tensor nearest3d(const Tensor& self, IntSpan output_size, Scale scales_d, Scale scales_h, Scale scales_w) {
  return nearest("upsample_nearest3d", self, output_size, std::array{scales_d, scales_h, scales_w}, false);
}
Tensor& nearest3dOut(const Tensor& self, IntSpan output_size, Scale scales_d, Scale scales_h, Scale scales_w,
                     Tensor& out) {
  return writeSameType(out, nearest3d(self, output_size, scales_d, scales_h, scales_w));
}

Tensor nearestExact1d(const Tensor& self, IntSpan output_size, Scale scales) {
  return nearest("_upsample_nearest_exact1d", self, output_size, std::array{scales}, true);
}
Tensor& nearestExact1dOut(const Tensor& self, IntSpan output_size, Scale scales, Tensor& out) {
  return writeSameType(out, nearestExact1d(self, output_size, scales));
}
Tensor nearestExact2d(const Tensor& self, IntSpan output_size, Scale scales_h, Scale scales_w) {
  return nearest("_upsample_nearest_exact2d", self, output_size, std::array{scales_h, scales_w}, true);
}
Tensor& nearestExact2dOut(const Tensor& self, IntSpan output_size, Scale scales_h, Scale scales_w, Tensor& out) {
  return writeSameType(out, nearestExact2d(self, output_size, scales_h, scales_w));
}
Tensor nearestExact3d(const Tensor& self, IntSpan output_size, Scale scales_d, Scale scales_h, Scale scales_w) {
  return nearest("_upsample_nearest_exact3d", self, output_size, std::array{scales_d, scales_h, scales_w}, true);
}
Tensor& nearestExact3dOut(const Tensor& self, IntSpan output_size, Scale scales_d, Scale scales_h, Scale scales_w,
                          Tensor& out) {
  return writeSameType(out, nearestExact3d(self, output_size, scales_d, scales_h, scales_w));
}

// The forms of sizes or factors.

Scale scaleAt(const OptionalFactors& factors, size_t i) {
  return factors.has_value() ? Scale((*factors)[i]) : std::nullopt;
}

Tensor bicubic2dVec(const Tensor& input, OptionalSizes output_size, bool align_corners, OptionalFactors factors) {
  const DimVector sizes = meta::chosenOutputSize("upsample_bicubic2d", input, output_size, factors, 2);
  return boxcar::upsample_bicubic2d(input, sizes, align_corners, scaleAt(factors, 0), scaleAt(factors, 1));
}
Tensor smoothBilinear2dVec(const Tensor& input, OptionalSizes output_size, bool align_corners,
                           OptionalFactors factors) {
  const DimVector sizes = meta::chosenOutputSize("_upsample_bilinear2d_aa", input, output_size, factors, 2);
  return boxcar::_upsample_bilinear2d_aa(input, sizes, align_corners, scaleAt(factors, 0), scaleAt(factors, 1));
}
Tensor smoothBicubic2dVec(const Tensor& input, OptionalSizes output_size, bool align_corners, OptionalFactors factors) {
  const DimVector sizes = meta::chosenOutputSize("_upsample_bicubic2d_aa", input, output_size, factors, 2);
  return boxcar::_upsample_bicubic2d_aa(input, sizes, align_corners, scaleAt(factors, 0), scaleAt(factors, 1));
}
Tensor trilinear3dVec(const Tensor& input, OptionalSizes output_size, bool align_corners, OptionalFactors factors) {
  const DimVector sizes = meta::chosenOutputSize("upsample_trilinear3d", input, output_size, factors, 3);
  return boxcar::upsample_trilinear3d(input, sizes, align_corners, scaleAt(factors, 0), scaleAt(factors, 1),
                                      scaleAt(factors, 2));
}
Tensor nearest3dVec(const Tensor& input, OptionalSizes output_size, OptionalFactors factors) {
  const DimVector sizes = meta::chosenOutputSize("upsample_nearest3d", input, output_size, factors, 3);
  return boxcar::upsample_nearest3d(input, sizes, scaleAt(factors, 0), scaleAt(factors, 1), scaleAt(factors, 2));
}
Tensor nearestExact1dVec(const Tensor& input, OptionalSizes output_size, OptionalFactors factors) {
  const DimVector sizes = meta::chosenOutputSize("_upsample_nearest_exact1d", input, output_size, factors, 1);
  return boxcar::_upsample_nearest_exact1d(input, sizes, scaleAt(factors, 0));
}
Tensor nearestExact2dVec(const Tensor& input, OptionalSizes output_size, OptionalFactors factors) {
  const DimVector sizes = meta::chosenOutputSize("_upsample_nearest_exact2d", input, output_size, factors, 2);
  return boxcar::_upsample_nearest_exact2d(input, sizes, scaleAt(factors, 0), scaleAt(factors, 1));
}
Tensor nearestExact3dVec(const Tensor& input, OptionalSizes output_size, OptionalFactors factors) {
  const DimVector sizes = meta::chosenOutputSize("_upsample_nearest_exact3d", input, output_size, factors, 3);
  return boxcar::_upsample_nearest_exact3d(input, sizes, scaleAt(factors, 0), scaleAt(factors, 1), scaleAt(factors, 2));
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) {
  m.impl("upsample_bicubic2d.vec", BOXCAR_FN(bicubic2dVec));
  m.impl("_upsample_bilinear2d_aa.vec", BOXCAR_FN(smoothBilinear2dVec));
  m.impl("_upsample_bicubic2d_aa.vec", BOXCAR_FN(smoothBicubic2dVec));
  m.impl("upsample_trilinear3d.vec", BOXCAR_FN(trilinear3dVec));
  m.impl("upsample_nearest3d.vec", BOXCAR_FN(nearest3dVec));
  m.impl("_upsample_nearest_exact1d.vec", BOXCAR_FN(nearestExact1dVec));
  m.impl("_upsample_nearest_exact2d.vec", BOXCAR_FN(nearestExact2dVec));
  m.impl("_upsample_nearest_exact3d.vec", BOXCAR_FN(nearestExact3dVec));
}

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("upsample_bicubic2d", BOXCAR_FN(bicubic2d));
  m.impl("upsample_bicubic2d.out", BOXCAR_FN(bicubic2dOut));
  m.impl("_upsample_bilinear2d_aa", BOXCAR_FN(smoothBilinear2d));
  m.impl("_upsample_bicubic2d_aa", BOXCAR_FN(smoothBicubic2d));
  m.impl("upsample_trilinear3d", BOXCAR_FN(trilinear3d));
  m.impl("upsample_trilinear3d.out", BOXCAR_FN(trilinear3dOut));
  m.impl("upsample_nearest3d", BOXCAR_FN(nearest3d));
  m.impl("upsample_nearest3d.out", BOXCAR_FN(nearest3dOut));
  m.impl("_upsample_nearest_exact1d", BOXCAR_FN(nearestExact1d));
  m.impl("_upsample_nearest_exact1d.out", BOXCAR_FN(nearestExact1dOut));
  m.impl("_upsample_nearest_exact2d", BOXCAR_FN(nearestExact2d));
  m.impl("_upsample_nearest_exact2d.out", BOXCAR_FN(nearestExact2dOut));
  m.impl("_upsample_nearest_exact3d", BOXCAR_FN(nearestExact3d));
  m.impl("_upsample_nearest_exact3d.out", BOXCAR_FN(nearestExact3dOut));
}

}  // namespace boxcar::composite
