#include <boxcar/dispatcher/handlers/memory/storage_watch.h>

#include <mutex>
#include <shared_mutex>
#include <vector>

namespace boxcar {
namespace {

struct Registry {
  // Held while a watch is added or removed, and while the process's observer is exchanged, which waits for running
  // calls.
  std::mutex changing;
  // Held (shared) while the observers are told.
  std::shared_mutex telling;
  std::vector<const StorageObserver*> observers;
  const StorageObserver* before = nullptr;
};

// Never destroyed: the last storages are freed when the process ends.
Registry& registry() {
  static Registry& instance = *new Registry;
  return instance;
}

void tellAllocated(void*, const StorageImpl& storage, size_t bytes) {
  const std::shared_lock lock(registry().telling);
  for (const StorageObserver* observer : registry().observers) observer->allocated(observer->context, storage, bytes);
}

void tellFreed(void*, const StorageImpl& storage, size_t bytes) {
  const std::shared_lock lock(registry().telling);
  for (const StorageObserver* observer : registry().observers) observer->freed(observer->context, storage, bytes);
}

constinit const StorageObserver kTellAll = {&tellAllocated, &tellFreed, nullptr};

}  // namespace

StorageWatch::StorageWatch(const StorageObserver& observer) : observer_(observer) {
  Registry& all = registry();
  const std::lock_guard changing(all.changing);
  {
    const std::lock_guard lock(all.telling);
    all.observers.push_back(&observer);
  }
  if (all.observers.size() == 1) all.before = setStorageObserver(&kTellAll);
}

StorageWatch::~StorageWatch() {
  Registry& all = registry();
  const std::lock_guard changing(all.changing);
  {
    const std::lock_guard lock(all.telling);
    std::erase(all.observers, &observer_);
  }
  if (all.observers.empty()) setStorageObserver(all.before);
}

}  // namespace boxcar
