#include <boxcar/backends/meta/upsample.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ops.h>

#include <optional>
#include <span>

// Interpolation by sizes or by factors, in the form that scripts of other programs call.

namespace boxcar::composite {
namespace {

using OptionalSizes = std::optional<std::span<const int64_t>>;
using OptionalFactors = std::optional<std::span<const double>>;

std::optional<double> factorAt(const OptionalFactors& factors, size_t i) {
  return factors.has_value() ? std::optional<double>((*factors)[i]) : std::nullopt;
}

Tensor nearest1d(const Tensor& input, OptionalSizes output_size, OptionalFactors scale_factors) {
  const DimVector sizes = meta::chosenOutputSize("upsample_nearest1d", input, output_size, scale_factors, 1);
  return boxcar::upsample_nearest1d(input, sizes, factorAt(scale_factors, 0));
}

Tensor nearest2d(const Tensor& input, OptionalSizes output_size, OptionalFactors scale_factors) {
  const DimVector sizes = meta::chosenOutputSize("upsample_nearest2d", input, output_size, scale_factors, 2);
  return boxcar::upsample_nearest2d(input, sizes, factorAt(scale_factors, 0), factorAt(scale_factors, 1));
}

Tensor linear1d(const Tensor& input, OptionalSizes output_size, bool align_corners, OptionalFactors scale_factors) {
  const DimVector sizes = meta::chosenOutputSize("upsample_linear1d", input, output_size, scale_factors, 1);
  return boxcar::upsample_linear1d(input, sizes, align_corners, factorAt(scale_factors, 0));
}

Tensor bilinear2d(const Tensor& input, OptionalSizes output_size, bool align_corners, OptionalFactors scale_factors) {
  const DimVector sizes = meta::chosenOutputSize("upsample_bilinear2d", input, output_size, scale_factors, 2);
  return boxcar::upsample_bilinear2d(input, sizes, align_corners, factorAt(scale_factors, 0),
                                     factorAt(scale_factors, 1));
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) {
  m.impl("upsample_nearest1d.vec", BOXCAR_FN(nearest1d));
  m.impl("upsample_nearest2d.vec", BOXCAR_FN(nearest2d));
  m.impl("upsample_linear1d.vec", BOXCAR_FN(linear1d));
  m.impl("upsample_bilinear2d.vec", BOXCAR_FN(bilinear2d));
}

}  // namespace boxcar::composite
