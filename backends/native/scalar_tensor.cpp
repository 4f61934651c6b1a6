#include <boxcar/backends/meta/dims.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/scalar_tensor.h>
#include <boxcar/ops.h>

#include <optional>

namespace boxcar::native {

// On CUDA a kernel writes the number, as a copy would wait for the device.
Tensor numberOn(Device device, const Scalar& number, ScalarType type) {
  if (device.is_cpu()) return numberTensor(number, type);
  if (!device.is_cuda()) return Tensor::allocate({}, type, device);
  checkFits(number, type);
  return boxcar::full(DimVector(), number, type, std::nullopt, device);
}

}  // namespace boxcar::native
