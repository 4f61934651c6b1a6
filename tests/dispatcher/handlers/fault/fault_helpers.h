#pragma once

#include <boxcar/dispatcher/handlers/memory/storage_watch.h>
#include <boxcar/ivalue/allocator.h>
#include <boxcar/ivalue/error.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <unordered_set>

namespace boxcar {

// Counts the live storages among those allocated since its construction.
class LiveStorages final {
 public:
  size_t count() const {
    const std::lock_guard lock(mutex_);
    return alive_.size();
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_set<const StorageImpl*> alive_;
  const StorageObserver observer_ = {[](void* context, const StorageImpl& storage, size_t) {
                                       auto& self = *static_cast<LiveStorages*>(context);
                                       const std::lock_guard lock(self.mutex_);
                                       self.alive_.insert(&storage);
                                     },
                                     [](void* context, const StorageImpl& storage, size_t) {
                                       auto& self = *static_cast<LiveStorages*>(context);
                                       const std::lock_guard lock(self.mutex_);
                                       self.alive_.erase(&storage);
                                     },
                                     this};
  const StorageWatch watch_{observer_};
};

// While it exists, the [n]-th request for a large block of CPU tensor memory fails as if memory had run out.
class FailingAllocation final {
 public:
  explicit FailingAllocation(int64_t n) {
    left = n;
    setAllocator(DeviceType::CPU, &kFailing);
  }
  ~FailingAllocation() { setAllocator(DeviceType::CPU, &usual); }
  FailingAllocation(const FailingAllocation&) = delete;
  FailingAllocation& operator=(const FailingAllocation&) = delete;

  static bool hasFailed() { return left <= 0; }

 private:
  static inline const Allocator& usual = allocatorFor(DeviceType::CPU);
  static inline std::atomic<int64_t> left = 0;
  static inline const Allocator kFailing = {
      [](size_t bytes, DeviceIndex index) {
        BOXCAR_CHECK(--left != 0, "there is no memory for {} bytes", bytes);
        return usual.allocate(bytes, index);
      },
      [](void* memory, size_t bytes, DeviceIndex index) { usual.deallocate(memory, bytes, index); }};
};

}  // namespace boxcar
