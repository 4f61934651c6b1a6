#include <boxcar/backends/functors/pointwise_special.h>
#include <boxcar/backends/functors/pointwise_table.h>
#include <boxcar/backends/native/pointwise_registration.h>
#include <boxcar/backends/native/registration.h>
#include <boxcar/ivalue/error.h>

namespace boxcar::native {
namespace {

constexpr Pointwise kPolygamma = makePointwise<Polygamma, 1, Result::kFloat>("polygamma", kFloatingTypes);

Scalar toOrder(int64_t n) {
  BOXCAR_CHECK(n >= 0, "polygamma(n, x) does not support negative n, here {}; give an order of at least 0", n);
  return n;
}

Tensor polygamma(int64_t n, const Tensor& self) {
  const Scalar order = toOrder(n);
  return pointwise(kPolygamma, {self}, &order);
}

Tensor& polygammaInPlace(Tensor& self, int64_t n) {
  const Scalar order = toOrder(n);
  return pointwiseInPlace(kPolygamma, self, {self}, &order);
}

Tensor& polygammaOut(int64_t n, const Tensor& self, Tensor& out) {
  const Scalar order = toOrder(n);
  return pointwiseOut(kPolygamma, out, {self}, &order);
}

}  // namespace

BOXCAR_NATIVE_KERNELS(aten, m, runPointwise) {
  BOXCAR_REGISTER_POINTWISE(BOXCAR_SPECIAL_TABLE, m)
  m.impl("polygamma", BOXCAR_FN(polygamma));
  m.impl("polygamma_", BOXCAR_FN(polygammaInPlace));
  m.impl("polygamma.out", BOXCAR_FN(polygammaOut));
}

}  // namespace boxcar::native
