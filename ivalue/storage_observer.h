#pragma once

#include <boxcar/ivalue/macros.h>

#include <cstddef>
#include <cstdint>

namespace boxcar {

class StorageImpl;

// Is told of the memory of tensors: of each storage that is allocated, on any device, and of each that goes.
struct StorageObserver {
  // On the thread that allocates or frees, and with no lock held. They must not throw. A storage that is resized goes
  // and comes again; one that wraps foreign memory is never allocated, but goes.
  void (*allocated)(void* context, const StorageImpl& storage, size_t bytes);
  void (*freed)(void* context, const StorageImpl& storage, size_t bytes);
  void* context;
};

// The process has one observer; null takes it away, and waits until no call of it is running. Gives the one before.
BOXCAR_API const StorageObserver* setStorageObserver(const StorageObserver* observer);

namespace detail {
extern BOXCAR_API constinit thread_local uint64_t allocated_storage_bytes __attribute__((tls_model("initial-exec")));
}

// The bytes of all storages that this thread has allocated so far.
inline uint64_t allocatedStorageBytes() noexcept { return detail::allocated_storage_bytes; }

}  // namespace boxcar
