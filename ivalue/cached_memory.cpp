#include <boxcar/ivalue/cached_memory.h>
#include <boxcar/ivalue/error.h>

#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <utility>

namespace boxcar {
namespace {

constexpr size_t kAlignment = 64;
// Blocks from this size on are given huge pages, which spares loops over them most misses of address translation. NumPy
// draws the line here, too.
constexpr size_t kLeastHuge = size_t{4} << 20;
constexpr size_t kClasses = 8;                                          // 64, 128, … 8192 bytes
constexpr uint32_t kMostPerClass = BOXCAR_KEEPS_FREED_BLOCKS ? 64 : 0;  // blocks that a thread keeps

struct FreeBlock {
  FreeBlock* next;
};

// Plain data, so that reading it needs no initialisation check; CacheOwner empties it when the thread ends.
struct ThreadCache {
  FreeBlock* lists[kClasses];
  uint32_t counts[kClasses];
  bool owned;
  bool closed;
};

[[gnu::tls_model("initial-exec")]] constinit thread_local ThreadCache cache = {};

struct CacheOwner {
  CacheOwner() { cache.owned = true; }
  ~CacheOwner() {
    cache.closed = true;
    for (FreeBlock*& list : cache.lists) {
      while (list != nullptr) std::free(std::exchange(list, list->next));
    }
  }
};

[[gnu::noinline]] void ownCache() { static thread_local CacheOwner owner; }

// The class whose blocks hold [bytes]; kClasses and more are not cached.
size_t classOf(size_t bytes) noexcept { return std::bit_width((bytes - (bytes != 0)) / kAlignment); }

// Asks for huge pages. Where the kernel does not take the advice, pages are small ones.
void adviseHugePages([[maybe_unused]] void* memory, [[maybe_unused]] size_t bytes) noexcept {
#ifdef MADV_HUGEPAGE
  static const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t begin = (reinterpret_cast<uintptr_t>(memory) + page - 1) & ~(page - 1);
  const uintptr_t end = (reinterpret_cast<uintptr_t>(memory) + bytes) & ~(page - 1);
  madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#endif
}

[[gnu::noinline]] void* allocateFresh(size_t bytes, size_t size_class) {
  const size_t size = size_class < kClasses ? kAlignment << size_class : (bytes + kAlignment - 1) & ~(kAlignment - 1);
  void* memory = size < bytes ? nullptr : std::aligned_alloc(kAlignment, size);
  BOXCAR_CHECK(memory != nullptr, "out of memory: could not allocate {} bytes", bytes);
  if (bytes >= kLeastHuge) adviseHugePages(memory, bytes);
  return memory;
}

}  // namespace

void* allocateCached(size_t bytes) {
  const size_t size_class = classOf(bytes);
  if (size_class < kClasses) {
    if (FreeBlock* block = cache.lists[size_class]) {
      cache.lists[size_class] = block->next;
      --cache.counts[size_class];
      return block;
    }
  }
  return allocateFresh(bytes, size_class);
}

void freeCached(void* memory, size_t bytes) noexcept {
  const size_t size_class = classOf(bytes);
  if (size_class >= kClasses || cache.counts[size_class] >= kMostPerClass || cache.closed) {
    std::free(memory);
    return;
  }
  if (!cache.owned) ownCache();
  FreeBlock* block = static_cast<FreeBlock*>(memory);
  block->next = cache.lists[size_class];
  cache.lists[size_class] = block;
  ++cache.counts[size_class];
}

}  // namespace boxcar
