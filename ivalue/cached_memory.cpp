#include <boxcar/ivalue/cached_memory.h>
#include <boxcar/ivalue/error.h>

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <mutex>
#include <new>
#include <utility>

namespace boxcar {
namespace {

constexpr size_t kAlignment = 64;
// Blocks from this size on lie in huge pages, which avoids most TLB misses in loops over them. NumPy uses the same
// threshold. They are mapped: malloc's pages may have been touched before, and those are small.
constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kLeastHuge = 2 * kHugePage;
#if BOXCAR_KEEPS_FREED_BLOCKS && defined(MADV_HUGEPAGE)
constexpr bool kHasHugePages = true;
#else
constexpr bool kHasHugePages = false;
#endif
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

// Blocks of huge pages. Some freed blocks are kept, newest first, for the next result of the same size: mapping a new
// block costs more than most loops over it.
class HugeBlocks {
 public:
  // Returns null if there is no memory.
  void* allocate(size_t bytes) {
    const size_t size = roundedUp(bytes, kHugePage);
    if (size < bytes) return nullptr;
    const std::lock_guard lock(mutex_);
    for (Block& block : kept_) {
      if (block.size != size) continue;
      kept_bytes_ -= size;
      return std::exchange(block, {}).memory;
    }
    if (void* memory = map(size, bytes)) return memory;
    dropAll();
    return map(size, bytes);
  }

  void free(void* memory, size_t bytes) noexcept {
    Block freed{memory, roundedUp(bytes, kHugePage)};
    if (freed.size > kMostKept) return unmap(freed);
    const std::lock_guard lock(mutex_);
    kept_bytes_ += freed.size;
    for (Block& block : kept_) {
      std::swap(block, freed);
      if (freed.memory == nullptr) break;
    }
    drop(freed);  // the oldest, if there is no room for all
    for (size_t i = std::size(kept_); kept_bytes_ > kMostKept;) drop(kept_[--i]);
  }

 private:
  struct Block {
    void* memory = nullptr;
    size_t size = 0;
  };

  static constexpr size_t kMostKept = size_t{64} << 20;  // bytes

  // The last page is a huge one only if the request fills it; otherwise its rest would be memory that nobody asked for.
  static void* map([[maybe_unused]] size_t size, [[maybe_unused]] size_t bytes) {
#ifdef MADV_HUGEPAGE
    void* const mapped = mmap(nullptr, size + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) return nullptr;
    auto* const first = static_cast<std::byte*>(mapped);
    std::byte* const begin =
        first + (roundedUp(reinterpret_cast<uintptr_t>(first), kHugePage) - reinterpret_cast<uintptr_t>(first));
    if (begin != first) munmap(first, static_cast<size_t>(begin - first));
    munmap(begin + size, static_cast<size_t>(first + kHugePage - begin));
    madvise(begin, bytes & ~(kHugePage - 1), MADV_HUGEPAGE);  // no effect if the kernel has no huge pages
    return begin;
#else
    return nullptr;
#endif
  }

  static void unmap(const Block& block) noexcept {
    if (block.memory != nullptr) munmap(block.memory, block.size);
  }

  // Unmaps a kept block.
  void drop(Block& block) noexcept {
    kept_bytes_ -= block.size;
    unmap(std::exchange(block, {}));
  }

  void dropAll() noexcept {
    for (Block& block : kept_) drop(block);
  }

  std::mutex mutex_;
  Block kept_[8];
  size_t kept_bytes_ = 0;
};

constinit HugeBlocks huge_blocks;

constexpr size_t kMostSmall = kAlignment << (kClasses - 1);
constexpr size_t kMostMiddle = kLeastHuge - 1;

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

// Blocks between the small and the huge ones. malloc gives freed ones back to the system, and results of that size
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
  static constexpr size_t kMostKept = BOXCAR_KEEPS_FREED_BLOCKS ? size_t{64} << 20 : 0;  // bytes
  std::mutex mutex_;
  FreeBlock* kept_[middleClassOf(kMostMiddle) + 1] = {};
  size_t kept_bytes_ = 0;
};

constinit MiddleBlocks middle_blocks;

bool isHuge(size_t bytes) noexcept { return kHasHugePages && bytes >= kLeastHuge; }

[[gnu::noinline]] void* allocateFresh(size_t bytes, size_t size_class) {
  const size_t size = size_class < kClasses ? kAlignment << size_class : roundedUp(bytes, kAlignment);
  void* memory = nullptr;
  if (isHuge(bytes)) {
    memory = huge_blocks.allocate(bytes);
  } else if (MiddleBlocks::holds(bytes)) {
    memory = middle_blocks.allocate(bytes);
  } else if (size >= bytes) {
    memory = std::aligned_alloc(kAlignment, size);
  }
  BOXCAR_CHECK(memory != nullptr, "out of memory: could not allocate {} bytes", bytes);
  return memory;
}

[[gnu::noinline]] void freeForGood(void* memory, size_t bytes) noexcept {
  if (isHuge(bytes)) {
    huge_blocks.free(memory, bytes);
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
