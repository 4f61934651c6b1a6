#pragma once

#include <boxcar/ivalue/device.h>
#include <boxcar/ivalue/macros.h>

#include <cstddef>

namespace boxcar {

// How the memory of one kind of device is had. A backend registers its own; the CPU's is the cache of cached_memory.h.
struct Allocator {
  // Gives [bytes] of memory on device number [index]; throws Error when there is none.
  void* (*allocate)(size_t bytes, DeviceIndex index);
  // Frees what allocate gave; [bytes] and [index] are those of the allocation. Must not throw.
  void (*deallocate)(void* memory, size_t bytes, DeviceIndex index);
  // Copies within device number [index]; without one, storages that have bytes cannot be resized.
  void (*copy)(void* to, const void* from, size_t bytes, DeviceIndex index) = nullptr;
};

// The allocator is used from now on for new storages on devices of [type], each of which frees its memory with the one
// that gave it: an allocator must live as long as the program.
BOXCAR_API void setAllocator(DeviceType type, const Allocator* allocator);

// The allocator for devices of [type]; an Error names the device when none is registered.
BOXCAR_API const Allocator& allocatorFor(DeviceType type);

}  // namespace boxcar
