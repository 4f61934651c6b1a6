#include <boxcar/backends/meta/broadcast.h>
#include <boxcar/backends/meta/matrices.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/distances.h>
#include <boxcar/backends/native/memory_checks.h>
#include <boxcar/backends/native/registration.h>

#include <optional>

namespace boxcar::native {

constinit DeviceStub<DistancesFunction> rowDistances("cdist");

namespace {

Tensor cdistForward(const Tensor& x1, const Tensor& x2, double p, std::optional<int64_t> compute_mode) {
  const Device device = commonDevice({&x1, &x2});
  const meta::Distances call = meta::checkCdist(x1, x2, p, compute_mode);
  const Tensor out = Tensor::allocate(call.result, x1.scalar_type(), device);
  if (out.is_meta() || out.numel() == 0) return out;
  const Tensor a = toContiguous(meta::expandTo(x1, call.x1));
  const Tensor b = toContiguous(meta::expandTo(x2, call.x2));
  rowDistances(device, out, a, b, p, call.by_product);
  return out;
}

}  // namespace

BOXCAR_NATIVE_KERNELS(aten, m, rowDistances) { m.impl("_cdist_forward", BOXCAR_FN(cdistForward)); }

}  // namespace boxcar::native
