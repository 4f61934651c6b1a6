#include <boxcar/backends/meta/reduction.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/memory_checks.h>
#include <boxcar/backends/native/registration.h>
#include <boxcar/backends/native/softmax.h>
#include <boxcar/backends/native/write_out.h>
#include <boxcar/ivalue/error.h>

#include <string_view>

namespace boxcar::native {

constinit DeviceStub<SoftmaxFunction> softmaxLines("softmax");

namespace {

Tensor computeAlong(const Tensor& self, int64_t dim, bool half_to_float, bool logarithm) {
  const std::string_view name = logarithm ? "log_softmax" : "softmax";
  checkDense(self);
  const ScalarType type = self.scalar_type();
  visitScalarType(kFloatingTypes, type, name, [](auto) {});  // throws Error, naming the supported types
  const auto along = static_cast<size_t>(wrapDimension(dim, self.dim()));
  BOXCAR_CHECK(!half_to_float || type == ScalarType::Half,
               "{} with half to float conversion takes a float16 tensor, not one of {}", name, dtypeName(type));
  Tensor out = Tensor::allocate(self.sizes(), half_to_float ? ScalarType::Float : type, self.device());
  if (!self.is_meta() && self.numel() > 0) {
    softmaxLines(self.device(), out, toContiguous(self), Lines(self, along), logarithm);
  }
  return out;
}

Tensor& computeInto(const Tensor& self, int64_t dim, bool half_to_float, bool logarithm, Tensor& out) {
  meta::checkOutType(logarithm ? "log_softmax" : "softmax", out,
                     half_to_float ? ScalarType::Float : self.scalar_type());
  return writeResult(out, computeAlong(self, dim, half_to_float, logarithm));
}

Tensor softmax(const Tensor& self, int64_t dim, bool half_to_float) {
  return computeAlong(self, dim, half_to_float, /*logarithm=*/false);
}
Tensor& softmaxOut(const Tensor& self, int64_t dim, bool half_to_float, Tensor& out) {
  return computeInto(self, dim, half_to_float, /*logarithm=*/false, out);
}
Tensor logSoftmax(const Tensor& self, int64_t dim, bool half_to_float) {
  return computeAlong(self, dim, half_to_float, /*logarithm=*/true);
}
Tensor& logSoftmaxOut(const Tensor& self, int64_t dim, bool half_to_float, Tensor& out) {
  return computeInto(self, dim, half_to_float, /*logarithm=*/true, out);
}

}  // namespace

BOXCAR_NATIVE_KERNELS(aten, m, softmaxLines) {
  m.impl("_softmax", BOXCAR_FN(softmax));
  m.impl("_softmax.out", BOXCAR_FN(softmaxOut));
  m.impl("_log_softmax", BOXCAR_FN(logSoftmax));
  m.impl("_log_softmax.out", BOXCAR_FN(logSoftmaxOut));
}

}  // namespace boxcar::native
