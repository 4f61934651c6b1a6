#include <boxcar/ivalue/kept_regions.h>

#include <sys/mman.h>

#include <algorithm>

namespace boxcar {
namespace {

// Blocks are of whole pages of this size; regions are of huge pages.
constexpr size_t kPage = 4096;
constexpr size_t kHugePage = size_t{2} << 20;
// The most that is kept beside the peak.
constexpr size_t kMostSlack = size_t{64} << 20;
// What is kept at most.
constexpr size_t kMostKept = size_t{256} << 20;
// A period of this many frees is several calls of a large network.
constexpr uint64_t kPeriod = 1024;

constexpr size_t roundedUp(size_t bytes, size_t unit) { return (bytes + unit - 1) & ~(unit - 1); }

std::byte* roundedUp(std::byte* address, size_t unit) {
  const auto number = reinterpret_cast<uintptr_t>(address);
  return address + (roundedUp(number, unit) - number);
}

// Returns [size] bytes of huge pages, if the kernel has some; null if there is no memory.
std::byte* mapRegion(size_t size) {
#ifdef MADV_HUGEPAGE
  void* const mapped = mmap(nullptr, size + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  auto* const first = static_cast<std::byte*>(mapped);
  std::byte* const begin = roundedUp(first, kHugePage);
  if (begin != first) munmap(first, static_cast<size_t>(begin - first));
  munmap(begin + size, static_cast<size_t>(first + kHugePage - begin));
  madvise(begin, size, MADV_HUGEPAGE);
  return begin;
#else
  static_cast<void>(size);
  return nullptr;
#endif
}

}  // namespace

void* KeptRegions::allocate(size_t bytes) {
  const size_t size = roundedUp(bytes, kPage);
  if (size < bytes) return nullptr;
  const std::lock_guard lock(mutex_);
  Piece* best = nullptr;
  for (size_t i = 0; i < count_; ++i) {
    if (pieces_[i].size >= size && (best == nullptr || pieces_[i].size < best->size)) best = &pieces_[i];
  }
  void* memory = nullptr;
  if (best != nullptr) {
    memory = best->begin;
    best->begin += size;
    best->size -= size;
    kept_bytes_ -= size;
    if (best->size == 0) erase(static_cast<size_t>(best - pieces_));
  } else {
    memory = allocateFresh(size);
    if (memory == nullptr) return nullptr;
    // As much has been in use before, but the pieces did not fit.
    if (used_bytes_ + size <= std::max(peak_, peak_before_)) slack_ = std::min(slack_ + kLeastSlack, kMostSlack);
  }
  used_bytes_ += size;
  peak_ = std::max(peak_, used_bytes_);
  if (best == nullptr) keepAsNeeded();
  return memory;
}

void KeptRegions::free(void* memory, size_t bytes) noexcept {
  const size_t size = roundedUp(bytes, kPage);
  const std::lock_guard lock(mutex_);
  used_bytes_ -= size;
  if (++frees_ % kPeriod == 0) {
    if (peak_ < peak_before_ / 2) slack_ = kLeastSlack;
    peak_before_ = peak_;
    peak_ = used_bytes_;
  }
  keep({static_cast<std::byte*>(memory), size, frees_});
  keepAsNeeded();
}

// Maps a region; what the block does not take of it is kept.
void* KeptRegions::allocateFresh(size_t size) {
  const size_t mapped = roundedUp(size, kHugePage);
  if (mapped < size || mapped + kHugePage < mapped) return nullptr;
  std::byte* begin = mapRegion(mapped);
  if (begin == nullptr) {
    keepAtMost(0);
    begin = mapRegion(mapped);
  }
  if (begin != nullptr && mapped > size) keep({begin + size, mapped - size, frees_});
  return begin;
}

void KeptRegions::keep(Piece piece) noexcept {
  kept_bytes_ += piece.size;
  Piece* const end = pieces_ + count_;
  Piece* next = std::find_if(pieces_, end, [&](const Piece& each) { return each.begin > piece.begin; });
  if (next != pieces_ && next[-1].begin + next[-1].size == piece.begin) {
    Piece& before = next[-1];
    before.size += piece.size;
    before.freed = std::max(before.freed, piece.freed);
    if (next == end || before.begin + before.size != next->begin) return;
    before.size += next->size;
    before.freed = std::max(before.freed, next->freed);
    erase(static_cast<size_t>(next - pieces_));
  } else if (next != end && piece.begin + piece.size == next->begin) {
    *next = {piece.begin, piece.size + next->size, std::max(piece.freed, next->freed)};
  } else if (count_ == kMostPieces) {
    kept_bytes_ -= piece.size;
    munmap(piece.begin, piece.size);
  } else {
    std::copy_backward(next, end, end + 1);
    *next = piece;
    ++count_;
  }
}

void KeptRegions::erase(size_t index) noexcept {
  std::copy(pieces_ + index + 1, pieces_ + count_, pieces_ + index);
  --count_;
}

void KeptRegions::keepAtMost(size_t bytes) noexcept {
  while (kept_bytes_ > bytes) {
    Piece& oldest =
        *std::min_element(pieces_, pieces_ + count_, [](const Piece& a, const Piece& b) { return a.freed < b.freed; });
    // The rest of the piece keeps its huge pages whole.
    const size_t excess = roundedUp(kept_bytes_ - bytes, kPage);
    std::byte* const end = oldest.begin + oldest.size;
    std::byte* cut = oldest.begin;
    if (excess < oldest.size) {
      cut = roundedUp(end - excess - (kHugePage - 1), kHugePage);
      if (cut < oldest.begin) cut = oldest.begin;
    }
    const auto size = static_cast<size_t>(end - cut);
    kept_bytes_ -= size;
    munmap(cut, size);
    oldest.size -= size;
    if (oldest.size == 0) erase(static_cast<size_t>(&oldest - pieces_));
  }
}

void KeptRegions::keepAsNeeded() noexcept {
  keepAtMost(std::min(kMostKept, std::max(peak_, peak_before_) - used_bytes_ + slack_));
}

}  // namespace boxcar
