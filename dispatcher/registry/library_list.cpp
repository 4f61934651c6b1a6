#include <boxcar/dispatcher/registry/library_list.h>

#include <atomic>
#include <utility>

namespace boxcar::detail {
namespace {

constinit std::atomic<LibraryBlock*> linked_blocks{nullptr};

// Where this thread sets blocks aside; null if it does not.
[[gnu::tls_model("initial-exec")]] constinit thread_local LibraryBlock** captured_blocks = nullptr;

// Each block is linked in front of the earlier ones.
LibraryBlock* reversed(LibraryBlock* newest) noexcept {
  LibraryBlock* blocks = nullptr;
  while (newest != nullptr) {
    LibraryBlock* next = newest->next;
    newest->next = blocks;
    blocks = newest;
    newest = next;
  }
  return blocks;
}

}  // namespace

LibraryLink::LibraryLink(LibraryBlock& block) noexcept {
  if (captured_blocks != nullptr) {
    block.next = std::exchange(*captured_blocks, &block);
    return;
  }
  block.next = linked_blocks.load(std::memory_order_relaxed);
  while (!linked_blocks.compare_exchange_weak(block.next, &block, std::memory_order_release)) {
  }
}

LibraryBlock* takeLinkedBlocks() noexcept {
  return reversed(linked_blocks.exchange(nullptr, std::memory_order_acquire));
}

LibraryCapture::LibraryCapture() noexcept : outer_(std::exchange(captured_blocks, &newest_)) {}

LibraryCapture::~LibraryCapture() { captured_blocks = outer_; }

LibraryBlock* LibraryCapture::take() noexcept { return reversed(std::exchange(newest_, nullptr)); }

}  // namespace boxcar::detail
