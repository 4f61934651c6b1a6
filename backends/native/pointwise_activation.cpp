#include <boxcar/backends/functors/pointwise_activation.h>
#include <boxcar/backends/functors/pointwise_table.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/pointwise_registration.h>
#include <boxcar/backends/native/registration.h>
#include <boxcar/ivalue/error.h>

#include <string_view>

namespace boxcar::native {
namespace {

constexpr const Pointwise& kLogSigmoid = kPointwise<"log_sigmoid", LogSigmoid, 1, Result::kSame, kFloatingTypes>;

// The result is contiguous, even if the input is not.
Tensor logSigmoid(const Tensor& self) { return pointwise(kLogSigmoid, {toContiguous(self)}); }

constexpr Pointwise kGelu = makePointwise<Gelu, 1, Result::kSame>("gelu", kFloatingTypes);

constexpr Pointwise kGeluTanh = makePointwise<GeluTanh, 1, Result::kSame>("gelu", kFloatingTypes);

const Pointwise& geluBy(std::string_view approximate) {
  BOXCAR_CHECK(approximate == "none" || approximate == "tanh",
               "approximate argument must be either none or tanh, but it is '{}'.", approximate);
  return approximate == "none" ? kGelu : kGeluTanh;
}

Tensor gelu(const Tensor& self, std::string_view approximate) { return pointwise(geluBy(approximate), {self}); }

Tensor& geluInPlace(Tensor& self, std::string_view approximate) {
  return pointwiseInPlace(geluBy(approximate), self, {self});
}

Tensor& geluOut(const Tensor& self, std::string_view approximate, Tensor& out) {
  return pointwiseOut(geluBy(approximate), out, {self});
}

}  // namespace

BOXCAR_NATIVE_KERNELS(aten, m, runPointwise) {
  BOXCAR_REGISTER_POINTWISE(BOXCAR_ACTIVATION_TABLE, m)
  m.impl("log_sigmoid", BOXCAR_FN(logSigmoid));
  m.impl("gelu", BOXCAR_FN(gelu));
  m.impl("gelu_", BOXCAR_FN(geluInPlace));
  m.impl("gelu.out", BOXCAR_FN(geluOut));
}

}  // namespace boxcar::native
