#include <boxcar/backends/meta/broadcast.h>
#include <boxcar/backends/meta/matrices.h>
#include <boxcar/backends/native/cross.h>
#include <boxcar/backends/native/memory_checks.h>
#include <boxcar/backends/native/registration.h>
#include <boxcar/backends/native/write_out.h>

namespace boxcar::native {

constinit DeviceStub<CrossFunction> crossLines("cross");

namespace {

struct Cross {
  Tensor a;
  Tensor b;
  size_t dim;
  Device device;

  Cross(const Tensor& self, const Tensor& other, int64_t along) : device(commonDevice({&self, &other})) {
    const DimVector sizes = meta::checkCross(self, other, along);
    dim = static_cast<size_t>(wrapDimension(along, static_cast<int64_t>(sizes.size())));
    a = meta::expandTo(self, sizes);
    b = meta::expandTo(other, sizes);
  }
  ContiguousResult result() const { return {a.sizes(), a.scalar_type(), device}; }
  void fill(const Tensor& out) const {
    visitScalarType(kRealTypes + kComplexTypes, a.scalar_type(), "cross", [](auto) {});
    if (!out.is_meta() && out.numel() > 0) crossLines(device, out, a, b, dim);
  }
};

Tensor cross(const Tensor& self, const Tensor& other, int64_t dim) {
  const Cross call(self, other, dim);
  return call.result().make([&](const Tensor& out) { call.fill(out); });
}
Tensor& crossOut(const Tensor& self, const Tensor& other, int64_t dim, Tensor& out) {
  const Cross call(self, other, dim);
  return call.result().write(out, {&self, &other}, [&](const Tensor& target) { call.fill(target); });
}

}  // namespace

BOXCAR_NATIVE_KERNELS(aten, m, crossLines) {
  m.impl("linalg_cross", BOXCAR_FN(cross));
  m.impl("linalg_cross.out", BOXCAR_FN(crossOut));
}

}  // namespace boxcar::native
