#pragma once

#include <boxcar/ivalue/macros.h>
#include <boxcar/ivalue/storage_observer.h>

namespace boxcar {

// Tells [observer] of storages that are allocated and freed, as storage_observer.h says, while it lives. Any number
// may live at once, on any threads: they share the process's one place for an observer, and what held it before is not
// told meanwhile. [observer] must outlive it.
class BOXCAR_API StorageWatch final {
 public:
  explicit StorageWatch(const StorageObserver& observer);
  // No call of the observer runs any more when it is done.
  ~StorageWatch();
  StorageWatch(const StorageWatch&) = delete;
  StorageWatch& operator=(const StorageWatch&) = delete;

 private:
  const StorageObserver& observer_;
};

}  // namespace boxcar
