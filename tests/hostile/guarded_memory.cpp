#include "tests/hostile/guarded_memory.h"

#include <boxcar/ivalue/allocator.h>
#include <boxcar/ivalue/cached_memory.h>
#include <boxcar/ivalue/error.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>

namespace boxcar {
namespace hostile {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kArenaPages = size_t{1} << 28;  // address space, not memory
// A freed piece is reused only after this many pieces of its size were freed.
constexpr size_t kQuarantine = 64;
constexpr size_t kSmallPages = 16;
// The first content of tensors and of the space around them: no valid number, index or bool.
constexpr unsigned char kFill = 0xff;

// The piece that begins at a page of the arena.
struct Record {
  uint64_t bytes : 62;
  uint64_t is_used : 1;  // a piece begins or began here
  uint64_t is_freed : 1;
};

class Arena final {
 public:
  void open(const MemoryLimits& limits) {
    limits_ = limits;
    base_ = reserve(kArenaPages * kPage, PROT_NONE);
    records_ = reinterpret_cast<Record*>(reserve(kArenaPages * sizeof(Record), PROT_READ | PROT_WRITE));
  }

  bool isOpen() const noexcept { return base_ != nullptr; }
  bool holds(const void* address) const noexcept {
    const auto* const byte = static_cast<const std::byte*>(address);
    return isOpen() && byte >= base_ && byte < base_ + kArenaPages * kPage;
  }
  long live() const noexcept { return live_; }

  // Returns [bytes] of memory aligned to [alignment]; null if there is none.
  void* allocate(size_t bytes, size_t alignment) {
    const std::scoped_lock lock(mutex_);
    if (bytes > limits_.piece) return nullptr;
    const size_t count = pagesOf(bytes);
    if (in_use_ + count * kPage > limits_.all) return nullptr;
    const size_t slot_pages = slotPages(count);
    std::byte* const first = takeSlot(slot_pages);
    if (first == nullptr || ::mprotect(first, count * kPage, PROT_READ | PROT_WRITE) != 0) return nullptr;
    std::memset(first, kFill, count * kPage);
    records_[pageOf(first)] = {bytes, 1, 0};
    in_use_ += count * kPage;
    ++live_;
    is_at_end_ = !is_at_end_;
    return first + (is_at_end_ ? (count * kPage - bytes) / alignment * alignment : 0);
  }

  void free(void* memory, size_t bytes) noexcept {
    const std::scoped_lock lock(mutex_);
    auto* const piece = static_cast<std::byte*>(memory);
    std::byte* const first = piece - (piece - base_) % static_cast<ptrdiff_t>(kPage);
    Record& record = records_[pageOf(first)];
    if (record.is_used == 0 || record.is_freed != 0 || record.bytes != bytes)
      fail("was freed twice, or by another size", bytes, 0);
    const size_t count = pagesOf(bytes);
    checkFill(first, piece, bytes, -1);
    checkFill(piece + bytes, first + count * kPage, bytes, 1);
    record.is_freed = 1;
    in_use_ -= count * kPage;
    --live_;
    if (count > kSmallPages) ::madvise(first, count * kPage, MADV_DONTNEED);
    ::mprotect(first, count * kPage, PROT_NONE);
    freed_[std::bit_width(slotPages(count))].push_back({first, slotPages(count)});
  }

  void describe(const void* address, char* text, size_t size) const noexcept {
    text[0] = '\0';
    if (!holds(address)) return;
    const auto* const byte = static_cast<const std::byte*>(address);
    const size_t page = pageOf(byte);
    size_t back = 0;
    while (back < 2048 && back < page && records_[page - back].is_used == 0) ++back;
    // Between two pieces, describe the nearer one.
    const bool is_followed = page + 1 < kArenaPages && records_[page + 1].is_used != 0;
    const bool is_behind = static_cast<size_t>(byte - base_) % kPage < kPage / 2;
    if (back == 0 || !is_followed || is_behind) {
      tell(byte, page - back, text, size);
    } else {
      tell(byte, page + 1, text, size);
    }
  }

 private:
  struct Slot {
    std::byte* first;
    size_t pages;
  };

  static std::byte* reserve(size_t bytes, int protection) {
    void* const memory = ::mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    BOXCAR_CHECK(memory != MAP_FAILED, "the system does not give {} bytes of addresses", bytes);
    return static_cast<std::byte*>(memory);
  }
  static size_t pagesOf(size_t bytes) noexcept { return std::max<size_t>(1, (bytes + kPage - 1) / kPage); }
  // Rounds up, so that slots have only a few different sizes.
  static size_t slotPages(size_t count) noexcept { return std::bit_ceil(count); }
  size_t pageOf(const std::byte* byte) const noexcept { return static_cast<size_t>(byte - base_) / kPage; }

  std::byte* takeSlot(size_t pages) {
    std::deque<Slot>& freed = freed_[std::bit_width(pages)];
    if (freed.size() >= (pages > kSmallPages ? 2 : kQuarantine)) {
      std::byte* const first = freed.front().first;
      freed.pop_front();
      return first;
    }
    if (next_page_ + pages + 1 > kArenaPages) return nullptr;
    std::byte* const first = base_ + next_page_ * kPage;
    next_page_ += pages + 1;
    return first;
  }

  static void checkFill(const std::byte* begin, const std::byte* end, size_t bytes, int side) noexcept {
    for (const std::byte* byte = begin; byte < end; ++byte) {
      if (static_cast<unsigned char>(*byte) != kFill) {
        fail(side < 0 ? "was written before its beginning, bytes" : "was written behind its end, byte", bytes,
             side < 0 ? end - byte : byte - begin);
      }
    }
  }
  [[noreturn]] static void fail(const char* what, size_t bytes, ptrdiff_t distance) noexcept {
    char text[200];
    const int length = std::snprintf(text, sizeof(text), "a piece of %zu bytes %s %td\n", bytes, what, distance);
    if (::write(STDERR_FILENO, text, static_cast<size_t>(length)) < 0) std::abort();
    std::abort();
  }

  void tell(const std::byte* byte, size_t page, char* text, size_t size) const noexcept {
    const Record record = records_[page];
    if (record.is_used == 0) return;
    const std::byte* const first = base_ + page * kPage;
    const size_t bytes = record.bytes;
    const std::byte* const past = first + pagesOf(bytes) * kPage;
    if (record.is_freed != 0 && byte >= first && byte < past) {
      std::snprintf(text, size, "in a piece of %zu bytes that was freed", bytes);
    } else if (byte < first) {
      std::snprintf(text, size, "%td bytes before a piece of %zu bytes", first - byte, bytes);
    } else {
      std::snprintf(text, size, "%td bytes behind the last page of a piece of %zu bytes", byte - past + 1, bytes);
    }
  }

  MemoryLimits limits_;
  std::byte* base_ = nullptr;
  Record* records_ = nullptr;
  size_t next_page_ = 1;
  size_t in_use_ = 0;  // bytes, in whole pages
  long live_ = 0;
  bool is_at_end_ = false;
  std::deque<Slot> freed_[64];
  std::mutex mutex_;
};

Arena& arena() {
  static Arena& the = *new Arena;
  return the;
}

void* allocateGuarded(size_t bytes, size_t alignment) {
  void* memory = nullptr;
  if (arena().isOpen()) {
    memory = arena().allocate(bytes, alignment);
  } else {
    memory = std::aligned_alloc(64, (bytes + 63) / 64 * 64 + (bytes == 0 ? 64 : 0));
  }
  BOXCAR_CHECK(memory != nullptr, "out of memory: could not allocate {} bytes", bytes);
  return memory;
}

void freeGuarded(void* memory, size_t bytes) noexcept {
  if (arena().holds(memory)) return arena().free(memory, bytes);
  std::free(memory);
}

// These pieces hold only elements, and their end must be the end of the piece. So they are aligned only as far as their
// size allows.
constexpr Allocator kElements = {
    [](size_t bytes, DeviceIndex) { return allocateGuarded(bytes, std::min<size_t>(64, bytes & (~bytes + 1))); },
    [](void* memory, size_t bytes, DeviceIndex) { freeGuarded(memory, bytes); },
};

}  // namespace

void startGuarding(const MemoryLimits& limits) {
  setAllocator(DeviceType::CPU, &kElements);
  arena().open(limits);
}

Storage guardedStorage(size_t bytes) {
  // A small storage has its bytes behind the object; after resize() they are in a piece of their own.
  Storage storage = StorageImpl::allocate(0, Device(DeviceType::CPU));
  if (bytes != 0) storage->resize(bytes);
  return storage;
}

long livePieces() noexcept { return arena().live(); }

void describeAddress(const void* address, char* text, size_t size) noexcept { arena().describe(address, text, size); }

}  // namespace hostile

// Objects are at the beginning of these pieces, so the pieces must be aligned.
void* allocateCached(size_t bytes) { return hostile::allocateGuarded(bytes, 16); }
void freeCached(void* memory, size_t bytes) noexcept { hostile::freeGuarded(memory, bytes); }

}  // namespace boxcar
