#pragma once

#include <boxcar/ivalue/device.h>
#include <boxcar/ivalue/macros.h>

#include <cstddef>

namespace boxcar {

// Allocates and frees memory on one kind of device. Each backend registers its own; the CPU's is in cached_memory.h.
struct Allocator {
  // Returns [bytes] of memory on device number [index]; throws Error when there is none.
  void* (*allocate)(size_t bytes, DeviceIndex index);
  // Frees what allocate returned; [bytes] and [index] are those of the allocation. Must not throw.
  void (*deallocate)(void* memory, size_t bytes, DeviceIndex index);
  // Copies within device number [index]; without this function, storages that have bytes cannot be resized.
  void (*copy)(void* to, const void* from, size_t bytes, DeviceIndex index) = nullptr;
  // Told before a storage holds foreign memory on the device, as from_blob makes one: nothing was allocated before.
  void (*prepare)() = nullptr;
};

// Makes [allocator] the one for new storages on devices of [type]. Each storage frees its memory with the allocator
// that it came from, so an allocator must live as long as the program.
BOXCAR_API void setAllocator(DeviceType type, const Allocator* allocator);

// Returns the allocator for devices of [type]; throws an Error that names the device when none is registered.
BOXCAR_API const Allocator& allocatorFor(DeviceType type);

// Calls `prepare` of the allocator for devices of [type], if there is one.
void prepareForeignMemory(DeviceType type);

}  // namespace boxcar
