// What NVIDIA's libraries compute on a device, the CPU's kernels compute on the make-believe one.

#include <boxcar/backends/cuda/module/parts.h>
#include <boxcar/backends/cuda/simulated_launch.h>
#include <boxcar/backends/dense/products.h>
#include <boxcar/ivalue/storage.h>
#include <boxcar/ivalue/tensor.h>

#include <array>

namespace boxcar::cuda {
namespace {

// A tensor of the CPU over memory of the make-believe device.
Tensor overMemory(void* data, ScalarType type, std::span<const int64_t> sizes, std::span<const int64_t> strides) {
  int64_t reached = 1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) reached = 0;
    reached += reached == 0 ? 0 : (sizes[i] - 1) * strides[i];
  }
  const Storage storage =
      StorageImpl::wrap(data, static_cast<size_t>(reached) * elementSize(type), DeviceType::CPU, nullptr, nullptr);
  return Tensor(makeIntrusive<TensorImpl>(storage, type, sizes, strides, 0));
}

Tensor matrices(const GemmCall& call, const MatrixOperand& operand, int64_t rows, int64_t columns) {
  const std::array<int64_t, 3> sizes{call.batch, rows, columns};
  const std::array<int64_t, 3> strides{operand.batch_step, operand.row_step, operand.column_step};
  return overMemory(operand.data, call.type, sizes, strides);
}

}  // namespace

void multiplyByLibrary(const GemmCall& call) {
  enqueueSimulated([call] {
    dense::multiplyMatrices(DeviceType::CPU, matrices(call, call.c, call.m, call.n),
                            matrices(call, call.a, call.m, call.k), matrices(call, call.b, call.k, call.n), call.alpha,
                            call.beta);
  });
}

}  // namespace boxcar::cuda
