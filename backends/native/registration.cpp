#include <boxcar/backends/native/registration.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/dispatcher/registry/library_list.h>
#include <boxcar/dispatcher/registry/registration_lock.h>

#include <atomic>
#include <deque>
#include <mutex>

namespace boxcar::native {
namespace {

constinit const detail::WaitingBlock* waiting = nullptr;

}  // namespace

detail::WaitingLink::WaitingLink(WaitingBlock& block) noexcept {
  block.next = waiting;
  waiting = &block;
}

void registerNativeKernels(DeviceType type) {
  static std::atomic<uint32_t> done = 0;  // a bit for each type
  const uint32_t bit = uint32_t{1} << static_cast<int>(type);
  if ((done.load(std::memory_order_acquire) & bit) != 0) return;
  // A thread that registers holds this lock and may be the one that makes the first tensor: it would wait for a lock
  // of our own.
  const std::lock_guard lock(::boxcar::detail::registrationMutex());
  static uint32_t begun = 0;
  if ((begun & bit) != 0) return;  // by another thread before, or further out on this one
  begun |= bit;
  static std::deque<::boxcar::detail::LibraryBlock> blocks;  // the Dispatcher keeps their addresses
  for (const detail::WaitingBlock* block = waiting; block != nullptr; block = block->next) {
    if (!block->is_on(type)) continue;
    const ::boxcar::detail::LibraryLink link(blocks.emplace_back(
        ::boxcar::detail::LibraryBlock{::boxcar::detail::LibraryKind::Implementation, toDispatchKey(type), block->ns,
                                       block->init, block->file, block->line, block->allowed_operators}));
  }
  Dispatcher::singleton().readLibraries();
  done.fetch_or(bit, std::memory_order_release);
}

}  // namespace boxcar::native
