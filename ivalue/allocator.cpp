#include <boxcar/ivalue/allocator.h>
#include <boxcar/ivalue/cached_memory.h>
#include <boxcar/ivalue/error.h>

#include <array>
#include <atomic>

namespace boxcar {
namespace {

constexpr Allocator kCpuAllocator = {
    [](size_t bytes, DeviceIndex) { return allocateCached(bytes); },
    [](void* memory, size_t bytes, DeviceIndex) { freeCached(memory, bytes); },
};

constinit std::array<std::atomic<const Allocator*>, 32> allocators = {&kCpuAllocator};

}  // namespace

void setAllocator(DeviceType type, const Allocator* allocator) {
  allocators.at(static_cast<size_t>(type)).store(allocator, std::memory_order_release);
}

const Allocator& allocatorFor(DeviceType type) {
  const Allocator* allocator = allocators.at(static_cast<size_t>(type)).load(std::memory_order_acquire);
  BOXCAR_CHECK(allocator != nullptr,
               "no memory can be allocated on device '{}': no backend for it is loaded; use device 'cpu'",
               toString(Device(type)));
  return *allocator;
}

void prepareForeignMemory(DeviceType type) {
  const Allocator* allocator = allocators.at(static_cast<size_t>(type)).load(std::memory_order_acquire);
  if (allocator != nullptr && allocator->prepare != nullptr) allocator->prepare();
}

}  // namespace boxcar
