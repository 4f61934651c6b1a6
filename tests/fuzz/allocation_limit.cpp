// Limits the memory of a fuzzed program, including that of its tensors. Larger requests fail as in a process with a
// memory limit.

#include <malloc.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

// Defined by AddressSanitizer if it is linked.
extern "C" size_t __sanitizer_get_current_allocated_bytes() __attribute__((weak));

namespace {

constexpr size_t kMostAtOnce = size_t{1} << 26;
constexpr size_t kMost = size_t{1} << 29;

std::atomic<size_t> in_use = 0;

void* allocate(size_t size, size_t alignment) {
  if (size > kMostAtOnce || in_use > kMost) throw std::bad_alloc();
  void* memory = nullptr;
  if (posix_memalign(&memory, alignment < sizeof(void*) ? sizeof(void*) : alignment, size == 0 ? 1 : size) != 0) {
    throw std::bad_alloc();
  }
  in_use += malloc_usable_size(memory);
  return memory;
}

void* allocateOrNull(size_t size) noexcept {
  try {
    return allocate(size, alignof(std::max_align_t));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void release(void* memory) noexcept {
  if (memory == nullptr) return;
  in_use -= malloc_usable_size(memory);
  std::free(memory);
}

// Returns the bytes of all live memory. Tensor memory is freed by free(), so only the allocator knows the total.
size_t allInUse() {
  if (__sanitizer_get_current_allocated_bytes != nullptr) return __sanitizer_get_current_allocated_bytes();
  const struct mallinfo2 info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
}

}  // namespace

// Tensors take their memory from here.
extern "C" void* aligned_alloc(size_t alignment, size_t size) noexcept {
  constexpr size_t kCounted = size_t{1} << 16;  // because mallinfo2() is slow
  if (size > kMostAtOnce) return nullptr;
  if (size > kCounted && allInUse() > kMost) return nullptr;
  void* memory = nullptr;
  return posix_memalign(&memory, alignment, size) == 0 ? memory : nullptr;
}

// All forms are replaced: a sanitizer defines each one separately, and its forms do not call one another as those of
// the standard library do.
void* operator new(size_t size) { return allocate(size, alignof(std::max_align_t)); }
void* operator new[](size_t size) { return allocate(size, alignof(std::max_align_t)); }
void* operator new(size_t size, std::align_val_t alignment) { return allocate(size, static_cast<size_t>(alignment)); }
void* operator new[](size_t size, std::align_val_t alignment) { return allocate(size, static_cast<size_t>(alignment)); }
void* operator new(size_t size, const std::nothrow_t&) noexcept { return allocateOrNull(size); }
void* operator new[](size_t size, const std::nothrow_t&) noexcept { return allocateOrNull(size); }
void operator delete(void* memory) noexcept { release(memory); }
void operator delete[](void* memory) noexcept { release(memory); }
void operator delete(void* memory, size_t) noexcept { release(memory); }
void operator delete[](void* memory, size_t) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { release(memory); }
void operator delete[](void* memory, size_t, std::align_val_t) noexcept { release(memory); }
