#include <boxcar/backends/functors/pointwise_binary.h>
#include <boxcar/backends/functors/pointwise_table.h>
#include <boxcar/backends/meta/promotion.h>
#include <boxcar/backends/native/pointwise_registration.h>
#include <boxcar/backends/native/registration.h>
#include <boxcar/backends/native/write_out.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>

#include <type_traits>

namespace boxcar::native {
namespace {

constexpr Pointwise kNextafter = makePointwise<Nextafter, 2, Result::kSame>("nextafter", kFullFloatTypes);

// Returns float16 or bfloat16 if nextafter of the two is computed in it.
ScalarType halfOf(const Tensor& self, const Tensor& other) {
  meta::TypePromotion types;
  types.add(self);
  types.add(other);
  const ScalarType type = types.result();
  return type == ScalarType::Half || type == ScalarType::BFloat16 ? type : ScalarType::Undefined;
}

// The neighbours of halves, of which float32 knows nothing: their bits as integers are in the order of magnitudes.
Tensor nextHalf(const Tensor& self, const Tensor& other, ScalarType type) {
  const Tensor from = boxcar::to(self, type);
  const Tensor towards = boxcar::to(other, type);
  const Tensor bits = boxcar::view(from, ScalarType::Short);
  const Tensor grows = boxcar::eq(boxcar::gt(towards, from), boxcar::gt(from, 0));
  const Tensor moved = boxcar::view(boxcar::where(grows, boxcar::add(bits, 1), boxcar::sub(bits, 1)), type);
  const double least = type == ScalarType::Half ? 0x1p-24 : 0x1p-133;
  const Tensor from_zero = boxcar::copysign(boxcar::full_like(towards, least), towards);
  const Tensor next = boxcar::where(boxcar::eq(from, 0), from_zero, moved);
  const Tensor known = boxcar::where(boxcar::eq(from, towards), towards, next);
  const Tensor sum = boxcar::add(from, towards);
  return boxcar::where(boxcar::isnan(from), from, boxcar::where(boxcar::isnan(towards), sum, known));
}

Tensor nextafter(const Tensor& self, const Tensor& other) {
  const ScalarType half = halfOf(self, other);
  return half != ScalarType::Undefined ? nextHalf(self, other, half) : pointwise(kNextafter, {self, other}, nullptr);
}
Tensor& nextafterInPlace(Tensor& self, const Tensor& other) {
  const ScalarType half = halfOf(self, other);
  if (half != ScalarType::Undefined) return boxcar::copy_(self, nextHalf(self, other, half));
  return pointwiseInPlace(kNextafter, self, {self, other}, nullptr);
}
Tensor& nextafterOut(const Tensor& self, const Tensor& other, Tensor& out) {
  const ScalarType half = halfOf(self, other);
  if (half != ScalarType::Undefined) return writeResult(out, nextHalf(self, other, half));
  return pointwiseOut(kNextafter, out, {self, other}, nullptr);
}

}  // namespace

BOXCAR_NATIVE_KERNELS(aten, m, runPointwise) {
  BOXCAR_REGISTER_POINTWISE(BOXCAR_BINARY_TABLE, m)
  m.impl("nextafter", BOXCAR_FN(nextafter));
  m.impl("nextafter_", BOXCAR_FN(nextafterInPlace));
  m.impl("nextafter.out", BOXCAR_FN(nextafterOut));
}

}  // namespace boxcar::native
