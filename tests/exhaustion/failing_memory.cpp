// Provides all memory of the program: `new` and tensor memory (cached_memory.h). It caches no block, so that each
// request can fail and each piece is freed once.

#include <boxcar/ivalue/cached_memory.h>
#include <boxcar/ivalue/error.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <utility>

#include "tests/exhaustion/failing_memory.h"

namespace {

// The number of requests until one fails; 0: none fails.
thread_local constinit long left = 0;
thread_local constinit bool later_ones_fail = false;
thread_local constinit bool has_failed = false;
constinit std::atomic<long> live = 0;

bool fails() noexcept {
  if (left > 0 && --left == 0) {
    has_failed = true;
    return true;
  }
  return has_failed && later_ones_fail;
}

void* give(size_t size, size_t alignment) noexcept {
  if (fails()) return nullptr;
  const size_t rounded = (size + alignment - 1) / alignment * alignment;
  void* const memory = std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
  if (memory != nullptr) live.fetch_add(1, std::memory_order_relaxed);
  return memory;
}

void* giveOrThrow(size_t size, size_t alignment) {
  if (void* const memory = give(size, alignment)) return memory;
  throw std::bad_alloc();
}

void takeBack(void* memory) noexcept {
  if (memory == nullptr) return;
  live.fetch_sub(1, std::memory_order_relaxed);
  std::free(memory);
}

}  // namespace

// Not inlined, because GCC reports a mix of its own functions and ours as a mistake.
[[gnu::noinline]] void* operator new(size_t size) { return giveOrThrow(size, alignof(std::max_align_t)); }
[[gnu::noinline]] void* operator new(size_t size, std::align_val_t alignment) {
  return giveOrThrow(size, static_cast<size_t>(alignment));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { takeBack(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { takeBack(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { takeBack(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t, std::align_val_t) noexcept { takeBack(memory); }

namespace boxcar {

void* allocateCached(size_t bytes) {
  void* const memory = give(bytes, 64);
  BOXCAR_CHECK(memory != nullptr, "out of memory: could not allocate {} bytes", bytes);
  return memory;
}
void freeCached(void* memory, size_t) noexcept { takeBack(memory); }

namespace exhaustion {

void failRequest(long n, bool and_all_later) noexcept {
  has_failed = false;
  later_ones_fail = and_all_later;
  left = n;
}

bool endFailing() noexcept {
  left = 0;
  return std::exchange(has_failed, false);
}

long livePieces() noexcept { return live.load(std::memory_order_relaxed); }

}  // namespace exhaustion
}  // namespace boxcar
