#include <boxcar/ivalue/cached_memory.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/kept_regions.h>

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>
#include <utility>

namespace boxcar {
namespace {

constexpr size_t kAlignment = 64;
#if BOXCAR_KEEPS_FREED_BLOCKS && defined(MADV_HUGEPAGE)
constexpr bool kHasRegions = true;
#else
constexpr bool kHasRegions = false;
#endif
// Blocks from this size on lie in regions of huge pages, which avoids most TLB misses in loops over them.
constexpr size_t kLeastLarge = size_t{256} << 10;
constexpr size_t kClasses = 8;                                          // 64, 128, … 8192 bytes
constexpr uint32_t kMostPerClass = BOXCAR_KEEPS_FREED_BLOCKS ? 64 : 0;  // the maximum number that a thread keeps

struct FreeBlock {
  FreeBlock* next;
};

// Plain data, so that access needs no initialisation check. Its room is 0 until CacheOwner exists, which empties it
// when the thread ends.
struct ThreadCache {
  FreeBlock* lists[kClasses];
  uint32_t room[kClasses];  // for this many further blocks
  bool owned;
};

[[gnu::tls_model("initial-exec")]] constinit thread_local ThreadCache cache = {};

struct CacheOwner {
  CacheOwner() {
    cache.owned = true;
    std::ranges::fill(cache.room, kMostPerClass);
  }
  ~CacheOwner() {
    std::ranges::fill(cache.room, 0);
    for (FreeBlock*& list : cache.lists) {
      while (list != nullptr) std::free(std::exchange(list, list->next));
    }
  }
};

[[gnu::noinline]] void ownCache() { static thread_local CacheOwner owner; }

// Returns the class whose blocks hold [bytes]; classes from kClasses on are not cached.
size_t classOf(size_t bytes) noexcept { return std::bit_width((bytes - (bytes != 0)) / kAlignment); }

constexpr size_t roundedUp(size_t bytes, size_t unit) { return (bytes + unit - 1) & ~(unit - 1); }

constinit KeptRegions regions;

constexpr size_t kMostSmall = kAlignment << (kClasses - 1);
constexpr size_t kMostMiddle = kHasRegions ? kLeastLarge - 1 : (size_t{4} << 20) - 1;

// The classes of middle blocks: their sizes grow by a quarter of a power of two, so at most a fifth of a block is not
// asked for.
constexpr size_t kSteps = 4;

constexpr size_t middleClassOf(size_t bytes) noexcept {
  const size_t power = std::bit_width(bytes - 1) - 1;  // 2^power < bytes <= 2^(power + 1)
  const size_t step = size_t{1} << (power - 2);
  return (power + 1 - std::bit_width(kMostSmall)) * kSteps + (bytes - (size_t{1} << power) + step - 1) / step - 1;
}

constexpr size_t middleSizeOf(size_t size_class) noexcept {
  const size_t power = size_class / kSteps + std::bit_width(kMostSmall) - 1;
  return (size_t{1} << power) + (size_class % kSteps + 1) * (size_t{1} << (power - 2));
}

static_assert(middleClassOf(kMostSmall + 1) == 0 && middleSizeOf(0) == kMostSmall + kMostSmall / kSteps);
static_assert(middleClassOf(2 * kMostSmall) == kSteps - 1 && middleSizeOf(kSteps - 1) == 2 * kMostSmall);
static_assert(middleClassOf(2 * kMostSmall + 1) == kSteps && middleSizeOf(middleClassOf(kMostMiddle)) > kMostMiddle);

// Blocks between the small and the large ones. malloc gives freed ones back to the system, and results of that size
// would be mapped, and each of their pages zeroed, anew by every call.
class MiddleBlocks {
 public:
  static constexpr bool holds(size_t bytes) noexcept { return bytes > kMostSmall && bytes <= kMostMiddle; }

  // Returns null if there is no memory.
  void* allocate(size_t bytes) {
    const size_t size_class = middleClassOf(bytes);
    {
      const std::lock_guard lock(mutex_);
      if (FreeBlock* block = kept_[size_class]) {
        kept_[size_class] = block->next;
        kept_bytes_ -= middleSizeOf(size_class);
        return block;
      }
    }
    return std::aligned_alloc(kAlignment, middleSizeOf(size_class));
  }

  void free(void* memory, size_t bytes) noexcept {
    const size_t size_class = middleClassOf(bytes);
    {
      const std::lock_guard lock(mutex_);
      if (kept_bytes_ + middleSizeOf(size_class) <= kMostKept) {
        kept_bytes_ += middleSizeOf(size_class);
        kept_[size_class] = new (memory) FreeBlock{kept_[size_class]};
        return;
      }
    }
    std::free(memory);
  }

 private:
  static constexpr size_t kMostKept = BOXCAR_KEEPS_FREED_BLOCKS ? size_t{32} << 20 : 0;  // bytes
  std::mutex mutex_;
  FreeBlock* kept_[middleClassOf(kMostMiddle) + 1] = {};
  size_t kept_bytes_ = 0;
};

constinit MiddleBlocks middle_blocks;

bool isLarge(size_t bytes) noexcept { return kHasRegions && bytes >= kLeastLarge; }

[[gnu::noinline]] void* allocateFresh(size_t bytes, size_t size_class) {
  const size_t size = size_class < kClasses ? kAlignment << size_class : roundedUp(bytes, kAlignment);
  void* memory = nullptr;
  if (isLarge(bytes)) {
    memory = regions.allocate(bytes);
  } else if (MiddleBlocks::holds(bytes)) {
    memory = middle_blocks.allocate(bytes);
  } else if (size >= bytes) {
    memory = std::aligned_alloc(kAlignment, size);
  }
  BOXCAR_CHECK(memory != nullptr, "out of memory: could not allocate {} bytes", bytes);
  return memory;
}

[[gnu::noinline]] void freeForGood(void* memory, size_t bytes) noexcept {
  if (isLarge(bytes)) {
    regions.free(memory, bytes);
  } else if (MiddleBlocks::holds(bytes)) {
    middle_blocks.free(memory, bytes);
  } else {
    std::free(memory);
  }
}

}  // namespace

void* allocateCached(size_t bytes) {
  const size_t size_class = classOf(bytes);
  if (size_class < kClasses) {
    if (FreeBlock* block = cache.lists[size_class]) {
      cache.lists[size_class] = block->next;
      ++cache.room[size_class];
      return block;
    }
  }
  return allocateFresh(bytes, size_class);
}

void freeCached(void* memory, size_t bytes) noexcept {
  const size_t size_class = classOf(bytes);
  if (size_class >= kClasses || cache.room[size_class] == 0) [[unlikely]] {
    if (size_class >= kClasses || cache.owned) return freeForGood(memory, bytes);
    ownCache();
    return freeCached(memory, bytes);
  }
  FreeBlock* block = static_cast<FreeBlock*>(memory);
  block->next = cache.lists[size_class];
  cache.lists[size_class] = block;
  --cache.room[size_class];
}

}  // namespace boxcar
