#include <boxcar/ivalue/allocator.h>
#include <boxcar/ivalue/storage.h>
#include <boxcar/ivalue/storage_observer.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/test_support.h"

namespace boxcar {
namespace {

const Device kCpu(DeviceType::CPU);
const Device kMeta(DeviceType::Meta);

void fill(const Storage& storage) {
  for (size_t i = 0; i < storage->nbytes(); ++i) static_cast<uint8_t*>(storage->data())[i] = static_cast<uint8_t>(i);
}
bool holds(const Storage& storage, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) {
    if (static_cast<uint8_t*>(storage->data())[i] != static_cast<uint8_t>(i)) return false;
  }
  return true;
}

TEST(Storage, SmallAndLargeAreAlignedAndWritable) {
  for (size_t bytes : {0, 1, 8, 1024, 1025, 5000, 70000}) {
    const Storage storage = StorageImpl::allocate(bytes, kCpu);
    EXPECT_EQ(storage->nbytes(), bytes);
    EXPECT_EQ(storage->device(), kCpu);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(storage->data()) % 64, 0u);
    fill(storage);
    EXPECT_TRUE(holds(storage, bytes));
  }
}

TEST(Storage, ASmallOneLiesInOneBlock) {
  const Storage storage = StorageImpl::allocate(16, kCpu);
  EXPECT_EQ(static_cast<std::byte*>(storage->data()) - reinterpret_cast<std::byte*>(storage.get()), 128);
}

TEST(Storage, MetaHasASizeAndNoBytes) {
  const Storage storage = StorageImpl::allocate(size_t{1} << 60, kMeta);
  EXPECT_EQ(storage->data(), nullptr);
  EXPECT_EQ(storage->nbytes(), size_t{1} << 60);
  storage->resize(8);
  EXPECT_EQ(storage->data(), nullptr);
  EXPECT_EQ(storage->nbytes(), 8u);
}

TEST(Storage, IsFreedByTheAllocatorThatGaveIt) {
  static int first_freed = 0;
  static int second_freed = 0;
  static constexpr Allocator first = {[](size_t bytes, DeviceIndex) { return std::malloc(bytes); },
                                      [](void* memory, size_t, DeviceIndex) { std::free(memory), ++first_freed; }};
  static constexpr Allocator second = {[](size_t bytes, DeviceIndex) { return std::malloc(bytes); },
                                       [](void* memory, size_t, DeviceIndex) { std::free(memory), ++second_freed; }};
  const Device device(DeviceType::PrivateUse1);
  setAllocator(device.type(), &first);
  Storage older = StorageImpl::allocate(100, device);
  Storage resized = StorageImpl::allocate(0, device);
  setAllocator(device.type(), &second);
  Storage newer = StorageImpl::allocate(100, device);
  resized->resize(100);
  setAllocator(device.type(), nullptr);
  older = Storage();
  EXPECT_EQ(first_freed, 1);
  EXPECT_EQ(second_freed, 0);
  newer = Storage();
  resized = Storage();
  EXPECT_EQ(first_freed, 1);
  EXPECT_EQ(second_freed, 2);
}

TEST(Storage, TheDeleterOfForeignMemoryIsCalledOnce) {
  int deleted = 0;
  int memory[4] = {1, 2, 3, 4};
  {
    const Storage storage = StorageImpl::wrap(
        memory, sizeof(memory), kCpu,
        [](void* data, void* context) {
          EXPECT_EQ(static_cast<int*>(data)[3], 4);
          ++*static_cast<int*>(context);
        },
        &deleted);
    const Storage copy = storage;
    EXPECT_EQ(storage->data(), memory);
    EXPECT_EQ(deleted, 0);
  }
  EXPECT_EQ(deleted, 1);
}

TEST(Storage, ForeignMemoryWithoutDeleterIsLeftAlone) {
  int memory = 5;
  { const Storage storage = StorageImpl::wrap(&memory, sizeof(memory), kCpu, nullptr, nullptr); }
  EXPECT_EQ(memory, 5);
}

TEST(Storage, ResizeKeepsWhatFits) {
  const Storage storage = StorageImpl::allocate(100, kCpu);
  fill(storage);
  storage->resize(3000);
  EXPECT_EQ(storage->nbytes(), 3000u);
  EXPECT_TRUE(holds(storage, 100));
  storage->resize(10);
  EXPECT_TRUE(holds(storage, 10));
  storage->resize(0);
  EXPECT_EQ(storage->data(), nullptr);
  storage->resize(64);
  fill(storage);
  EXPECT_TRUE(holds(storage, 64));
}

TEST(Storage, ForeignMemoryCannotBeResized) {
  int memory = 5;
  const Storage storage = StorageImpl::wrap(&memory, sizeof(memory), kCpu, nullptr, nullptr);
  EXPECT_EQ(errorOf([&] { storage->resize(8); }),
            "a storage of 4 bytes that wraps foreign memory (a file, another library) cannot be resized to 8 bytes; "
            "clone the tensor first");
}

TEST(Storage, VersionCountsWrites) {
  const Storage storage = StorageImpl::allocate(4, kCpu);
  EXPECT_EQ(storage->version(), 0u);
  storage->bumpVersion();
  storage->bumpVersion();
  EXPECT_EQ(storage->version(), 2u);
}

struct Calls {
  int allocated = 0;
  int freed = 0;
  size_t bytes = 0;
  DeviceIndex index = -1;
};
Calls calls;

constexpr Allocator kCountingAllocator = {
    [](size_t bytes, DeviceIndex index) {
      ++calls.allocated;
      calls.index = index;
      return std::malloc(bytes);
    },
    [](void* memory, size_t bytes, DeviceIndex) {
      ++calls.freed;
      calls.bytes = bytes;
      std::free(memory);
    },
};

TEST(Storage, GivesForeignMemoryBackWhereTheDeviceIsNotReadyForIt) {
  static constexpr Allocator unready = {[](size_t, DeviceIndex) -> void* { return nullptr; },
                                        [](void*, size_t, DeviceIndex) {}, nullptr,
                                        [] { throw std::runtime_error("not ready"); }};
  setAllocator(DeviceType::PrivateUse1, &unready);
  int memory = 0;
  EXPECT_THROW(StorageImpl::wrap(
                   &memory, sizeof(memory), DeviceType::PrivateUse1,
                   [](void* data, void*) { ++*static_cast<int*>(data); }, nullptr),
               std::runtime_error);
  EXPECT_EQ(memory, 1);
  setAllocator(DeviceType::PrivateUse1, nullptr);
}

TEST(Storage, ADevicesAllocatorIsAskedAndGivenBack) {
  setAllocator(DeviceType::PrivateUse1, &kCountingAllocator);
  calls = {};
  const Device device(DeviceType::PrivateUse1, 3);
  {
    const Storage storage = StorageImpl::allocate(48, device);
    EXPECT_EQ(calls.allocated, 1);
    EXPECT_EQ(calls.index, 3);
    EXPECT_EQ(errorOf([&] { storage->resize(96); }),
              "a storage on device 'privateuseone:3' that holds 48 bytes cannot be resized");
  }
  EXPECT_EQ(calls.freed, 1);
  EXPECT_EQ(calls.bytes, 48u);
  {
    const Storage storage = StorageImpl::allocate(0, device);
    EXPECT_EQ(storage->data(), nullptr);
    EXPECT_EQ(calls.allocated, 1);
    storage->resize(96);
    EXPECT_EQ(calls.allocated, 2);
  }
  EXPECT_EQ(calls.freed, 2);
  setAllocator(DeviceType::PrivateUse1, nullptr);
}

TEST(Storage, WithoutAllocatorIsAnError) {
  EXPECT_EQ(errorOf([] { StorageImpl::allocate(4, Device(DeviceType::VE)); }),
            "no memory can be allocated on device 've': no backend for it is loaded; use device 'cpu'");
}

// What the observer is told, in order.
struct Told {
  std::vector<std::pair<std::string, size_t>> events;
  StorageObserver observer{
      [](void* told, const StorageImpl&, size_t bytes) { static_cast<Told*>(told)->events.emplace_back("new", bytes); },
      [](void* told, const StorageImpl&, size_t bytes) {
        static_cast<Told*>(told)->events.emplace_back("gone", bytes);
      },
      this};
};

TEST(StorageObserver, IsToldOfEveryStorageOfAnyDevice) {
  Told told;
  const StorageObserver* const before = setStorageObserver(&told.observer);
  {
    const Storage small = StorageImpl::allocate(8, Device(DeviceType::CPU));
    const Storage large = StorageImpl::allocate(5000, Device(DeviceType::CPU));
    large->resize(6000);
  }
  EXPECT_EQ(setStorageObserver(before), &told.observer);
  StorageImpl::allocate(1, Device(DeviceType::CPU));
  EXPECT_EQ(told.events, (decltype(told.events){
                             {"new", 8}, {"new", 5000}, {"gone", 5000}, {"new", 6000}, {"gone", 6000}, {"gone", 8}}));
}

TEST(StorageObserver, ThreadsCountWhatTheyAllocate) {
  const uint64_t before = allocatedStorageBytes();
  const Storage storage = StorageImpl::allocate(100, Device(DeviceType::CPU));
  std::thread([] {
    EXPECT_EQ(allocatedStorageBytes(), 0U);
    StorageImpl::allocate(50, Device(DeviceType::CPU));
    EXPECT_EQ(allocatedStorageBytes(), 50U);
  }).join();
  EXPECT_EQ(allocatedStorageBytes() - before, 100U);
}

}  // namespace
}  // namespace boxcar
