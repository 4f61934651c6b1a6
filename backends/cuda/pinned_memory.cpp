#include <boxcar/backends/cuda/device.h>
#include <boxcar/backends/cuda/status.h>
#include <boxcar/backends/native/pinned_memory.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

namespace boxcar::cuda {
namespace {

// Waits for unfinished copies.
void release(void* memory, void*) { driver().free_pinned(memory); }

Storage allocate(size_t bytes) {
  BOXCAR_CHECK(deviceCount() > 0, "memory can be pinned for a CUDA device only: CUDA: {}", whyNoDevice());
  void* memory = nullptr;
  if (bytes > 0) check(driver().allocate_pinned(&memory, bytes), fmt::format("pinning {} bytes", bytes));
  return StorageImpl::wrap(memory, bytes, Device(DeviceType::CPU), memory == nullptr ? nullptr : release, nullptr);
}

bool holds(const void* memory) { return deviceCount() > 0 && driver().is_pinned(memory); }

[[maybe_unused]] const bool kPinnedMemoryLoaded = [] {
  native::pinned_memory = {allocate, holds};
  return true;
}();

}  // namespace
}  // namespace boxcar::cuda
