#include <boxcar/backends/cuda/device.h>
#include <boxcar/backends/cuda/module.h>
#include <boxcar/backends/cuda/status.h>
#include <boxcar/backends/cuda/stream.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/device_stub.h>
#include <boxcar/backends/native/factories.h>
#include <boxcar/backends/native/flip.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

#include <algorithm>

namespace boxcar::cuda {
namespace {

bool isOneBlock(const Tensor& target, const Tensor& source) {
  return target.scalar_type() == source.scalar_type() && target.is_contiguous() && source.is_contiguous() &&
         std::ranges::equal(target.sizes(), source.sizes());
}

void copyBytes(const Tensor& target, const Tensor& source, CopyKind kind) {
  check(driver().copy(target.data_ptr(), source.data_ptr(), target.nbytes(), kind, currentStream().handle),
        fmt::format("copying {} bytes from '{}' to '{}'", target.nbytes(), source.device(), target.device()));
}

void copyWithin(const Tensor& target, const Tensor& source) {
  if (isOneBlock(target, source)) return copyBytes(target, source, CopyKind::kDeviceToDevice);
  StridedLayout layout(target.sizes());
  layout.add(target.sizes(), target.strides(), static_cast<int64_t>(target.itemsize()));
  layout.add(source.sizes(), source.strides(), static_cast<int64_t>(source.itemsize()));
  layout.prepare();
  module().copy_strided(static_cast<char*>(target.data_ptr()), target.scalar_type(),
                        static_cast<const char*>(source.data_ptr()), source.scalar_type(), layout);
}

// Whether a copy continues after the driver returns. For unpinned host memory, it is done (or its source is read) by
// then.
bool goesOnBehind(const Tensor& host, bool non_blocking) { return non_blocking && driver().is_pinned(host.data_ptr()); }

// Conversion and reordering are done on the side where less data has to be moved as a result.
void copyToDevice(const Tensor& target, const Tensor& source, bool non_blocking) {
  refuseInGraph("copies memory of the CPU, which may be gone when the graph is replayed");
  if (isOneBlock(target, source)) {
    copyBytes(target, source, CopyKind::kHostToDevice);
    if (!goesOnBehind(source, non_blocking)) synchronizeStream();
    return;
  }
  const Tensor packed = native::toContiguous(source);
  const Tensor arrived = Tensor::allocate(packed.sizes(), packed.scalar_type(), target.device());
  copyToDevice(arrived, packed, false);
  copyWithin(target, arrived);
}

void copyToHost(const Tensor& target, const Tensor& source, bool non_blocking) {
  refuseInGraph("waits for the device, as where a tensor is read or a result's size depends on elements");
  if (isOneBlock(target, source)) {
    copyBytes(target, source, CopyKind::kDeviceToHost);
    if (!goesOnBehind(target, non_blocking)) synchronizeStream();
    return;
  }
  Tensor packed =
      source.scalar_type() == target.scalar_type() ? source : native::convertTo(source, target.scalar_type());
  packed = native::toContiguous(packed);
  const Tensor arrived = Tensor::allocate(packed.sizes(), packed.scalar_type());
  copyToHost(arrived, packed, false);
  native::copyElements(target, arrived);
}

// Copies between two devices through a block on the target's device.
void copyAcross(const Tensor& target, const Tensor& source) {
  refuseInGraph("copies between two devices, and waits for both");
  Tensor packed = [&] {
    const DeviceGuard on(source.device());
    Tensor made = native::toContiguous(source);
    synchronizeStream();
    return made;
  }();
  // The source's device frees the source's memory without knowing about this device's stream, so wait.
  if (isOneBlock(target, packed)) {
    copyBytes(target, packed, CopyKind::kDeviceToDevice);
    return synchronizeStream();
  }
  const Tensor arrived = Tensor::allocate(packed.sizes(), packed.scalar_type(), target.device());
  copyBytes(arrived, packed, CopyKind::kDeviceToDevice);
  synchronizeStream();
  copyWithin(target, arrived);
}

void copy(const Tensor& target, const Tensor& source, bool non_blocking) {
  for (const Tensor* tensor : {&target, &source}) {
    BOXCAR_CHECK(tensor->is_cuda() || tensor->is_cpu(), "cannot copy from device '{}' to '{}'; copy to 'cpu' first",
                 source.device(), target.device());
  }
  if (!source.is_cuda()) return copyToDevice(target, source, non_blocking);
  if (!target.is_cuda()) return copyToHost(target, source, non_blocking);
  if (source.device() == target.device()) return copyWithin(target, source);
  copyAcross(target, source);
}

void copyInSteps(const Tensor& result, char* start, std::span<const int64_t> steps) {
  StridedLayout layout(result.sizes());
  layout.add(result.sizes(), result.strides(), static_cast<int64_t>(result.itemsize()));
  layout.add(result.sizes(), steps, 1);
  layout.prepare();
  module().copy_strided(static_cast<char*>(result.data_ptr()), result.scalar_type(), start, result.scalar_type(),
                        layout);
}

void zero(void* memory, size_t bytes) {
  check(driver().set(memory, 0, bytes, currentStream().handle), "setting memory to 0");
}

}  // namespace

BOXCAR_REGISTER_STUB(CUDA, native::copyOnDevice, copy)
BOXCAR_REGISTER_STUB(CUDA, native::zeroBytes, zero)
BOXCAR_REGISTER_STUB(CUDA, native::copyInSteps, copyInSteps)

}  // namespace boxcar::cuda
