#include <boxcar/backends/composite/dtype.h>
#include <boxcar/backends/composite/write_out.h>
#include <boxcar/backends/meta/defined.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>

#include <bit>
#include <cstdint>
#include <tuple>

// What numbers consist of: imaginary parts, mantissas and exponents.

namespace boxcar::composite {
namespace {

Tensor isReal(const Tensor& self) {
  meta::checkDefined(self);
  return self.is_complex() ? boxcar::eq(boxcar::imag(self), 0) : boxcar::ones_like(self, ScalarType::Bool);
}

bool canCastTo(ScalarType from, ScalarType to) { return canCast(from, to); }

// The bits of a floating-point format, as IEEE 754 lays them out.
struct Format {
  ScalarType bits;
  int mantissa;      // bits
  int64_t exponent;  // a mask
  int64_t bias;      // of exponents whose mantissas are from 0.5 to 1
  int64_t sign;
  double lift;  // makes subnormal numbers normal
  int64_t lifted;
};
constexpr Format kSingle = {ScalarType::Int, 23, 0xff, 126, std::bit_cast<int32_t>(0x80000000u), 0x1p64, 64};
constexpr Format kDouble = {ScalarType::Long, 52, 0x7ff, 1022, std::bit_cast<int64_t>(0x8000000000000000u),
                            0x1p128,          128};

std::tuple<Tensor, Tensor> frexpTensor(const Tensor& self) {
  BOXCAR_CHECK(self.is_floating_point(), "torch.frexp() only supports floating-point dtypes, but got {}",
               dtypeName(self.scalar_type()));
  const Tensor given = widened(self);
  const Format& format = given.scalar_type() == ScalarType::Double ? kDouble : kSingle;
  const auto exponentOf = [&](const Tensor& bits) {
    return boxcar::bitwise_and(boxcar::__rshift__(bits, format.mantissa), format.exponent);
  };
  const Tensor is_small = boxcar::eq(exponentOf(boxcar::view(given, format.bits)), 0);
  const Tensor bits = boxcar::view(boxcar::where(is_small, boxcar::mul(given, format.lift), given), format.bits);
  const Tensor biased = exponentOf(bits);
  const int64_t fraction = (int64_t{1} << format.mantissa) - 1;
  const Tensor half =
      boxcar::bitwise_or(boxcar::bitwise_and(bits, fraction | format.sign), format.bias << format.mantissa);
  // 0, infinity and NaN are their own mantissas.
  const Tensor has_parts = boxcar::logical_and(boxcar::ne(given, 0), boxcar::ne(biased, format.exponent));
  const Tensor mantissa = boxcar::where(has_parts, boxcar::view(half, given.scalar_type()), given);
  const Tensor exponent = boxcar::sub(boxcar::sub(biased, format.bias), boxcar::mul(is_small, format.lifted));
  const Tensor zero = boxcar::zeros({}, ScalarType::Int, std::nullopt, self.device());
  return {boxcar::to(mantissa, self.scalar_type()),
          boxcar::where(has_parts, boxcar::to(exponent, ScalarType::Int), zero)};
}
std::tuple<Tensor&, Tensor&> frexpOut(const Tensor& self, Tensor& mantissa, Tensor& exponent) {
  return writeSameTypes(frexpTensor(self), mantissa, exponent);
}

Tensor conjPhysical(const Tensor& self) { return boxcar::conj_physical(self); }

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) {
  m.impl("isreal", BOXCAR_FN(isReal));
  m.impl("can_cast", BOXCAR_FN(canCastTo));
}

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("frexp.Tensor", BOXCAR_FN(frexpTensor));
  m.impl("frexp.Tensor_out", BOXCAR_FN(frexpOut));
  m.impl("_conj_physical", BOXCAR_FN(conjPhysical));
}

}  // namespace boxcar::composite
