#include <boxcar/dispatcher/library_list.h>

#include <atomic>

namespace boxcar::detail {
namespace {

constinit std::atomic<LibraryBlock*> linked_blocks{nullptr};

}  // namespace

LibraryLink::LibraryLink(LibraryBlock& block) noexcept {
  block.next = linked_blocks.load(std::memory_order_relaxed);
  while (!linked_blocks.compare_exchange_weak(block.next, &block, std::memory_order_release)) {
  }
}

LibraryBlock* takeLinkedBlocks() noexcept {
  LibraryBlock* reversed = linked_blocks.exchange(nullptr, std::memory_order_acquire);
  LibraryBlock* blocks = nullptr;
  while (reversed != nullptr) {
    LibraryBlock* next = reversed->next;
    reversed->next = blocks;
    blocks = reversed;
    reversed = next;
  }
  return blocks;
}

}  // namespace boxcar::detail
