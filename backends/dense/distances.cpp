#include <boxcar/backends/dense/copy.h>
#include <boxcar/backends/dense/distances.h>
#include <boxcar/backends/dense/memory_checks.h>
#include <boxcar/backends/dense/registration.h>
#include <boxcar/backends/shape/broadcast.h>
#include <boxcar/backends/shape/matrices.h>

#include <optional>

namespace boxcar::dense {
namespace {

Tensor cdistForward(const Tensor& x1, const Tensor& x2, double p, std::optional<int64_t> compute_mode) {
  const Device device = commonDevice({&x1, &x2});
  const shape::Distances call = shape::checkCdist(x1, x2, p, compute_mode);
  const Tensor out = Tensor::allocate(call.result, x1.scalar_type(), device);
  if (out.is_meta() || out.numel() == 0) return out;
  const Tensor a = toContiguous(shape::expandTo(x1, call.x1));
  const Tensor b = toContiguous(shape::expandTo(x2, call.x2));
  rowDistances(device, out, a, b, p, call.by_product);
  return out;
}

}  // namespace

BOXCAR_DENSE_KERNELS(aten, m, rowDistances) { m.impl("_cdist_forward", BOXCAR_FN(cdistForward)); }

}  // namespace boxcar::dense
