#pragma once

#include <boxcar/ivalue/macros.h>
#include <boxcar/ivalue/storage_observer.h>

namespace boxcar {

// Tells [observer] of storages that are allocated and freed, as storage_observer.h describes, while it lives. Any
// number may live at once, on any threads: they share the process's single observer slot, and the observer that held
// the slot before is not told meanwhile. [observer] must outlive it.
class BOXCAR_API StorageWatch final {
 public:
  explicit StorageWatch(const StorageObserver& observer);
  // After it returns, no call of the observer is running.
  ~StorageWatch();
  StorageWatch(const StorageWatch&) = delete;
  StorageWatch& operator=(const StorageWatch&) = delete;

 private:
  const StorageObserver& observer_;
};

}  // namespace boxcar
