#pragma once

#include <boxcar/ivalue/device.h>
#include <boxcar/ivalue/intrusive_ptr.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace boxcar {

// The bytes that a tensor and its views share. They lie behind the object itself (small CPU tensors: one allocation),
// come from a device's allocator, or belong to an owner who is told when they are no longer needed. A storage on the
// meta device has a size and no bytes.
class BOXCAR_API StorageImpl final : public Object {
 public:
  using Deleter = void (*)(void* data, void* context);

  // Returns [bytes] on [device], uninitialised. Throws Error when there is no memory or no allocator for the device.
  static IntrusivePtr<StorageImpl> allocate(size_t bytes, Device device);

  // Wraps foreign memory; [deleter], if any, is called with [context] when the last tensor is gone.
  static IntrusivePtr<StorageImpl> wrap(void* data, size_t bytes, Device device, Deleter deleter, void* context);

  ~StorageImpl() override;

  void* data() const noexcept { return data_; }
  size_t nbytes() const noexcept { return bytes_; }
  Device device() const noexcept { return device_; }
  // Whether the memory is another owner's, who may see it.
  bool isForeign() const noexcept { return origin_ == Origin::kForeign; }

  // Counts the in-place writes to any tensor on this storage: autograd uses it to detect that a saved value is stale.
  uint32_t version() const noexcept { return version_.load(std::memory_order_relaxed); }
  void bumpVersion() noexcept { version_.fetch_add(1, std::memory_order_relaxed); }

  // Grows or shrinks to [bytes] and keeps what fits. Throws Error when the memory is foreign.
  void resize(size_t bytes);

 private:
  enum class Origin : uint8_t { kInline, kAllocator, kForeign, kNone };

  StorageImpl(void* data, size_t bytes, Device device, Origin origin, Deleter deleter = nullptr,
              void* context = nullptr) noexcept
      : data_(data), bytes_(bytes), deleter_(deleter), context_(context), device_(device), origin_(origin) {}
  void dispose() noexcept override;
  void freeData() noexcept;

  void* data_;
  size_t bytes_;
  Deleter deleter_;
  void* context_;
  std::atomic<uint32_t> version_{0};
  Device device_;
  Origin origin_;
  uint16_t block_bytes_ = sizeof(StorageImpl);  // of the object and the bytes inside it
};

using Storage = IntrusivePtr<StorageImpl>;

}  // namespace boxcar
