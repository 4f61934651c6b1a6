#include <boxcar/backends/dense/copy.h>
#include <boxcar/backends/dense/numbers.h>
#include <boxcar/backends/shape/dims.h>
#include <boxcar/ops.h>

#include <optional>

namespace boxcar::dense {

// Written by a kernel where that need not wait for the device, as a copy would.
Tensor numberOn(Device device, const Scalar& number, ScalarType type) {
  if (device.is_cpu()) return numberTensor(number, type);
  if (!device.is_cuda()) return Tensor::allocate({}, type, device);
  checkFits(number, type);
  return boxcar::full(DimVector(), number, type, std::nullopt, device);
}

}  // namespace boxcar::dense
