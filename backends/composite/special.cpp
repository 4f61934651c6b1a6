#include <boxcar/backends/composite/write_out.h>
#include <boxcar/backends/meta/promotion.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

// Special functions built from others.

namespace boxcar::composite {
namespace {

// The sum of lgamma at self, self - 1/2, … of which there are [p], and a constant.
Tensor multivariateGamma(const Tensor& self, int64_t p) {
  BOXCAR_CHECK(self.scalar_type() != ScalarType::Bool,
               "mvlgamma does not take bools; convert the input to a floating-point dtype");
  BOXCAR_CHECK(p >= 1, "p of mvlgamma has to be greater than or equal to 1, here {}", p);
  const double count = static_cast<double>(p);
  const Tensor points = boxcar::add(
      boxcar::arange(0.5 - 0.5 * count, 0.5, 0.5, meta::toFloatingType(self.scalar_type()), {}, self.device()),
      boxcar::unsqueeze(self, -1));
  return boxcar::add(boxcar::sum(boxcar::lgamma(points), std::array{int64_t{-1}}),
                     count * (count - 1) / 4 * std::log(std::numbers::pi));
}
Tensor& mvlgammaInPlace(Tensor& self, int64_t p) { return writeResult(self, multivariateGamma(self, p)); }
Tensor& mvlgammaOut(const Tensor& self, int64_t p, Tensor& out) { return writeResult(out, multivariateGamma(self, p)); }

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) {
  m.impl("mvlgamma", BOXCAR_FN(multivariateGamma));
  m.impl("mvlgamma_", BOXCAR_FN(mvlgammaInPlace));
  m.impl("mvlgamma.out", BOXCAR_FN(mvlgammaOut));
}

}  // namespace boxcar::composite
