#include <boxcar/ivalue/allocator.h>
#include <boxcar/ivalue/cached_memory.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/storage.h>
#include <boxcar/ivalue/storage_observer.h>
#include <boxcar/ivalue/storage_without_memory.h>
#include <boxcar/ivalue/zero_tensor.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

namespace boxcar {
namespace {

// The bytes start here, behind the object, aligned like every cached block.
constexpr size_t kHeaderBytes = 128;
constexpr size_t kMostInlineBytes = 1024;
static_assert(sizeof(StorageImpl) <= kHeaderBytes);

constinit std::atomic<const StorageObserver*> observer = nullptr;
// The number of running calls of the observer.
constinit std::atomic<int> observing = 0;

// Tells the observer, if there is one.
template <class Tell>
[[gnu::cold, gnu::noinline]] void observe(Tell tell) noexcept {
  observing.fetch_add(1);
  if (const StorageObserver* told = observer.load()) tell(*told);
  observing.fetch_sub(1);
}

void noteAllocation(const StorageImpl& storage, size_t bytes) noexcept {
  detail::allocated_storage_bytes += bytes;
  if (observer.load(std::memory_order_relaxed) != nullptr) [[unlikely]]
    observe([&](const StorageObserver& told) { told.allocated(told.context, storage, bytes); });
}

void noteFreeing(const StorageImpl& storage, size_t bytes) noexcept {
  if (observer.load(std::memory_order_relaxed) != nullptr) [[unlikely]]
    observe([&](const StorageObserver& told) { told.freed(told.context, storage, bytes); });
}

// A storage remembers its allocator, because the device may have another one by the time it is freed.
void* asContext(const Allocator& allocator) { return const_cast<Allocator*>(&allocator); }

// The deleters of memory that was never there: of one that observers are told of, and of zeros.
void freeNothing(void*, void*) {}
void freeZeros(void*, void*) {}

// Allocates an object for data that already exist; on failure [giveBack] disposes of the data.
template <class GiveBack>
void* memoryOfObjectOr(GiveBack giveBack) {
  try {
    return allocateCached(sizeof(StorageImpl));
  } catch (...) {
    giveBack();
    throw;
  }
}

}  // namespace

Storage StorageImpl::allocate(size_t bytes, Device device) {
  if (device.type() == DeviceType::CPU && bytes <= kMostInlineBytes) {
    void* block = allocateCached(kHeaderBytes + bytes);
    auto* storage =
        new (block) StorageImpl(static_cast<std::byte*>(block) + kHeaderBytes, bytes, device, Origin::kInline);
    storage->block_bytes_ = static_cast<uint16_t>(kHeaderBytes + bytes);
    noteAllocation(*storage, bytes);
    return Storage::adopt(storage);
  }
  if (device.type() == DeviceType::Meta) {
    return Storage::adopt(new (allocateCached(sizeof(StorageImpl))) StorageImpl(nullptr, bytes, device, Origin::kNone));
  }
  const Allocator& allocator = allocatorFor(device.type());
  void* data = bytes == 0 ? nullptr : allocator.allocate(bytes, device.index());
  void* const memory = memoryOfObjectOr([&] {
    if (data != nullptr) allocator.deallocate(data, bytes, device.index());
  });
  auto storage =
      Storage::adopt(new (memory) StorageImpl(data, bytes, device, Origin::kAllocator, nullptr, asContext(allocator)));
  noteAllocation(*storage, bytes);
  return storage;
}

constinit thread_local uint64_t detail::allocated_storage_bytes = 0;

const StorageObserver* setStorageObserver(const StorageObserver* next) {
  const StorageObserver* const before = observer.exchange(next);
  while (observing.load() != 0) std::this_thread::yield();
  return before;
}

// The function owns the memory from the start: [deleter] is called even if the device is not ready for it,
// or if there is no room for the object.
Storage StorageImpl::wrap(void* data, size_t bytes, Device device, Deleter deleter, void* context) {
  if (deleter == &freeZeros) {
    return Storage::adopt(new (allocateCached(sizeof(StorageImpl))) StorageImpl(nullptr, bytes, device, Origin::kNone));
  }
  if (deleter == &freeNothing) {
    auto storage =
        Storage::adopt(new (allocateCached(sizeof(StorageImpl))) StorageImpl(nullptr, bytes, device, Origin::kNone));
    noteAllocation(*storage, bytes);
    return storage;
  }
  const auto giveBack = [&] {
    if (deleter != nullptr) deleter(data, context);
  };
  if (!device.is_cpu()) {
    try {
      prepareForeignMemory(device.type());
    } catch (...) {
      giveBack();
      throw;
    }
  }
  void* const memory = memoryOfObjectOr(giveBack);
  return Storage::adopt(new (memory) StorageImpl(data, bytes, device, Origin::kForeign, deleter, context));
}

Storage storageWithoutMemory(size_t bytes, Device device) {
  return StorageImpl::wrap(nullptr, bytes, device, &freeNothing, nullptr);
}

Storage detail::storageOfZeros(size_t bytes, Device device) {
  return StorageImpl::wrap(nullptr, bytes, device, &freeZeros, nullptr);
}

StorageImpl::~StorageImpl() {
  noteFreeing(*this, bytes_);
  freeData();
}

void StorageImpl::freeData() noexcept {
  if (origin_ == Origin::kInline) return;
  if (origin_ == Origin::kAllocator && data_ != nullptr) {
    static_cast<const Allocator*>(context_)->deallocate(data_, bytes_, device_.index());
  } else if (origin_ == Origin::kForeign && deleter_ != nullptr) {
    deleter_(data_, context_);
  }
}

void StorageImpl::resize(size_t bytes) {
  BOXCAR_CHECK(
      origin_ != Origin::kForeign,
      "a storage of {} bytes that wraps foreign memory (a file, another library) cannot be resized to {} bytes; "
      "clone the tensor first",
      bytes_, bytes);
  if (origin_ != Origin::kNone) {
    const Allocator& allocator = allocatorFor(device_.type());
    BOXCAR_CHECK(device_.is_cpu() || allocator.copy != nullptr || bytes_ == 0 || bytes == 0,
                 "a storage on device '{}' that holds {} bytes cannot be resized", device_, bytes_);
    void* data = bytes == 0 ? nullptr : allocator.allocate(bytes, device_.index());
    if (data != nullptr && data_ != nullptr) {
      if (device_.is_cpu()) {
        std::memcpy(data, data_, std::min(bytes, bytes_));
      } else {
        allocator.copy(data, data_, std::min(bytes, bytes_), device_.index());
      }
    }
    noteFreeing(*this, bytes_);
    freeData();
    data_ = data;
    origin_ = Origin::kAllocator;
    context_ = asContext(allocator);
    noteAllocation(*this, bytes);
  } else if (!device_.is_meta()) {
    noteFreeing(*this, bytes_);
    noteAllocation(*this, bytes);
  }
  bytes_ = bytes;
}

void StorageImpl::dispose() noexcept {
  if (!mayDie()) return;
  const size_t block_bytes = block_bytes_;
  this->~StorageImpl();
  freeCached(this, block_bytes);
}

}  // namespace boxcar
