#pragma once

#include <boxcar/ivalue/macros.h>
#include <boxcar/ivalue/storage.h>
#include <boxcar/ivalue/tensor.h>

#include <cstddef>

namespace boxcar {

// Returns a storage that says it has [bytes] on [device] and has none: the device need not be there. Observers of
// storages are told as of any other. Its data() is null.
BOXCAR_API Storage storageWithoutMemory(size_t bytes, Device device);

// Whether the storage should have bytes of memory, and has not: one of a fake tensor. Those on the meta device have
// none by their nature.
inline bool lacksMemory(const StorageImpl& storage) noexcept {
  return storage.data() == nullptr && storage.nbytes() > 0 && !storage.device().is_meta();
}

// Whether the tensor has no elements that could be looked at: it is on the meta device, or fake.
inline bool lacksElements(const Tensor& tensor) noexcept {
  return tensor.is_meta() || tensor.key_set().has(DispatchKey::Fake);
}

}  // namespace boxcar
