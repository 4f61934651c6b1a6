#include <boxcar/dispatcher/handlers/memory/storage_watch.h>
#include <boxcar/ivalue/storage.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace boxcar {
namespace {

const Device kCpu(DeviceType::CPU);

struct Counts {
  std::atomic<size_t> allocated = 0;
  std::atomic<size_t> freed = 0;
  StorageObserver observer = {
      [](void* context, const StorageImpl&, size_t bytes) { static_cast<Counts*>(context)->allocated += bytes; },
      [](void* context, const StorageImpl&, size_t bytes) { static_cast<Counts*>(context)->freed += bytes; }, this};
};

TEST(StorageWatch, AnyNumberIsToldAtOnceEachWhileItLives) {
  Counts first;
  Counts second;
  {
    const StorageWatch watching_first(first.observer);
    Storage kept = StorageImpl::allocate(100, kCpu);
    {
      const StorageWatch watching_second(second.observer);
      const Storage brief = StorageImpl::allocate(4000, kCpu);
    }
    kept = Storage();
  }
  const Storage after = StorageImpl::allocate(7, kCpu);
  EXPECT_EQ(first.allocated, 4100U);
  EXPECT_EQ(first.freed, 4100U);
  EXPECT_EQ(second.allocated, 4000U);
  EXPECT_EQ(second.freed, 4000U);
}

TEST(StorageWatch, AnObserverThatWasThereIsPutBack) {
  Counts before;
  Counts watched;
  const StorageObserver* const none = setStorageObserver(&before.observer);
  {
    const StorageWatch watching(watched.observer);
    const Storage storage = StorageImpl::allocate(10, kCpu);
  }
  { const Storage storage = StorageImpl::allocate(20, kCpu); }
  EXPECT_EQ(setStorageObserver(none), &before.observer);
  EXPECT_EQ(watched.allocated, 10U);
  EXPECT_EQ(before.allocated, 20U);
}

TEST(StorageWatch, ComesAndGoesWhileThreadsAllocate) {
  std::atomic<bool> stop = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!stop) {
        const Storage storage = StorageImpl::allocate(2000, kCpu);
      }
    });
  }
  for (int i = 0; i < 200; ++i) {
    Counts counts;
    {
      const StorageWatch watching(counts.observer);
      const Storage storage = StorageImpl::allocate(3000, kCpu);
    }
    // A watch that starts late may see the deallocation of storages whose allocation it missed.
    EXPECT_GE(counts.allocated, 3000U);
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace boxcar
