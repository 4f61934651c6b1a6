#include <boxcar/backends/dense/copy.h>
#include <boxcar/backends/dense/numbers.h>
#include <boxcar/backends/shape/dims.h>
#include <boxcar/ops.h>

#include <optional>

namespace boxcar::dense {

// On CUDA a kernel writes the number, as a copy would wait for the device.
Tensor numberOn(Device device, const Scalar& number, ScalarType type) {
  if (device.is_cpu()) return numberTensor(number, type);
  if (!device.is_cuda()) return Tensor::allocate({}, type, device);
  checkFits(number, type);
  return boxcar::full(DimVector(), number, type, std::nullopt, device);
}

}  // namespace boxcar::dense
