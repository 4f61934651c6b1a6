#pragma once

#include <boxcar/ivalue/macros.h>

#include <cstddef>
#include <cstdint>

namespace boxcar {

class StorageImpl;

// Observes the memory of tensors: each storage that is allocated, on any device, and each that is freed.
struct StorageObserver {
  // Called on the thread that allocates or frees, with no lock held; must not throw. A resized storage counts as freed
  // and allocated again; a storage that wraps foreign memory is only freed.
  void (*allocated)(void* context, const StorageImpl& storage, size_t bytes);
  void (*freed)(void* context, const StorageImpl& storage, size_t bytes);
  void* context;
};

// Sets the process's only observer; null removes it. Waits until no call runs. Returns the observer before.
BOXCAR_API const StorageObserver* setStorageObserver(const StorageObserver* observer);

namespace detail {
extern BOXCAR_API constinit thread_local uint64_t allocated_storage_bytes __attribute__((tls_model("initial-exec")));
}

// The bytes of all storages that this thread has allocated so far.
inline uint64_t allocatedStorageBytes() noexcept { return detail::allocated_storage_bytes; }

}  // namespace boxcar
