#include <boxcar/backends/functors/pointwise_rounding.h>
#include <boxcar/backends/functors/pointwise_table.h>
#include <boxcar/backends/native/pointwise_registration.h>
#include <boxcar/backends/native/registration.h>
#include <boxcar/ivalue/error.h>

#include <limits>
#include <optional>
#include <type_traits>

namespace boxcar::native {
namespace {

constexpr Pointwise kNanToNum = makePointwise<NanToNum, 1, Result::kSame>("nan_to_num", kAllTypes);

double largest(ScalarType type) {
  switch (type) {
    case ScalarType::Half: return 65504;
    case ScalarType::BFloat16: return 0x1.fep127;
    case ScalarType::ComplexFloat:
    case ScalarType::Float: return std::numeric_limits<float>::max();
    default: return std::numeric_limits<double>::max();
  }
}

// The default replacement of infinity is the largest number of the element type.
struct Replacements {
  Scalar params[3];
  Replacements(const Tensor& self, std::optional<double> nan, std::optional<double> posinf,
               std::optional<double> neginf)
      : params{nan.value_or(0.0), posinf.value_or(largest(self.scalar_type())),
               neginf.value_or(-largest(self.scalar_type()))} {}
};

using Optional = std::optional<double>;

Tensor nanToNum(const Tensor& self, Optional nan, Optional posinf, Optional neginf) {
  return pointwise(kNanToNum, {self}, Replacements(self, nan, posinf, neginf).params);
}

Tensor& nanToNumInPlace(Tensor& self, Optional nan, Optional posinf, Optional neginf) {
  return pointwiseInPlace(kNanToNum, self, {self}, Replacements(self, nan, posinf, neginf).params);
}

Tensor& nanToNumOut(const Tensor& self, Optional nan, Optional posinf, Optional neginf, Tensor& out) {
  return pointwiseOut(kNanToNum, out, {self}, Replacements(self, nan, posinf, neginf).params);
}

}  // namespace

BOXCAR_NATIVE_KERNELS(aten, m, runPointwise) {
  BOXCAR_REGISTER_POINTWISE(BOXCAR_ROUNDING_TABLE, m)
  m.impl("nan_to_num", BOXCAR_FN(nanToNum));
  m.impl("nan_to_num_", BOXCAR_FN(nanToNumInPlace));
  m.impl("nan_to_num.out", BOXCAR_FN(nanToNumOut));
}

}  // namespace boxcar::native
