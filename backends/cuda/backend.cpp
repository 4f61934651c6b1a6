#include <boxcar/backends/cuda/caching_allocator.h>
#include <boxcar/backends/cuda/device.h>
#include <boxcar/backends/cuda/status.h>
#include <boxcar/backends/cuda/stream.h>
#include <boxcar/backends/native/device_stub.h>
#include <boxcar/backends/native/factories.h>
#include <boxcar/backends/native/recorded_work.h>
#include <boxcar/backends/native/registration.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/allocator.h>
#include <boxcar/ops.h>

#include <optional>
#include <span>

// Connects the rest of boxcar to CUDA devices: their memory, and how a thread switches between them.

namespace boxcar::cuda {
namespace {

void* allocate(size_t bytes, DeviceIndex index) {
  completeDevice(Device(DeviceType::CUDA, index));
  native::registerNativeKernels(DeviceType::CUDA);
  const DeviceGuard on(index);
  return allocatorOf(index).allocate(bytes, currentStreamOf(index).handle);
}

void deallocate(void* memory, size_t, DeviceIndex index) {
  allocatorOf(index).deallocate(memory, currentStreamOf(index));
}

void copy(void* to, const void* from, size_t bytes, DeviceIndex index) {
  const DeviceGuard on(index);
  check(driver().copy(to, from, bytes, CopyKind::kDeviceToDevice, currentStream().handle), "resizing a tensor");
}

void prepare() {
  if (deviceCount() > 0) native::registerNativeKernels(DeviceType::CUDA);
}

constexpr Allocator kAllocator = {allocate, deallocate, copy, prepare};

// The thread has nothing to switch back to: nearly every call is on its current device already.
constexpr int kStays = -1;

int enter(DeviceIndex index) {
  const int before = currentDevice();
  if (before == index) return kStays;
  setCurrentDevice(index);
  return before;
}

void leave(int before) {
  if (before != kStays) driver().set_device(before);
}

[[maybe_unused]] const bool kBackendLoaded = [] {
  native::device_switches[static_cast<size_t>(DeviceType::CUDA)] = {enter, leave};
  native::completeDevice = completeDevice;
  native::refuse_recording = refuseInGraph;
  setAllocator(DeviceType::CUDA, &kAllocator);
  return true;
}();

using IntSpan = std::span<const int64_t>;

// These create the first tensor. From then on the kernels of the other operators are there, which register themselves.
Tensor empty(IntSpan size, std::optional<ScalarType> dtype, std::optional<Layout> layout, std::optional<Device> device,
             std::optional<bool> pin_memory, std::optional<MemoryFormat> memory_format) {
  completeDevice(device.value_or(DeviceType::CUDA));
  native::registerNativeKernels(DeviceType::CUDA);
  return redispatch::empty(DispatchKeySet(DispatchKey::CUDA), size, dtype, layout, device, pin_memory, memory_format);
}
Tensor emptyStrided(IntSpan size, IntSpan stride, std::optional<ScalarType> dtype, std::optional<Layout> layout,
                    std::optional<Device> device, std::optional<bool> pin_memory) {
  completeDevice(device.value_or(DeviceType::CUDA));
  native::registerNativeKernels(DeviceType::CUDA);
  return redispatch::empty_strided(DispatchKeySet(DispatchKey::CUDA), size, stride, dtype, layout, device, pin_memory);
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CUDA, m) {
  m.impl("empty.memory_format", BOXCAR_FN(empty));
  m.impl("empty_strided", BOXCAR_FN(emptyStrided));
}

}  // namespace boxcar::cuda
