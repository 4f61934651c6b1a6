#include <boxcar/backends/native/registration.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/dispatcher/registry/registration_lock.h>

#include <atomic>
#include <mutex>
#include <utility>

namespace boxcar::native {
namespace {

constinit const detail::WaitingBlock* waiting = nullptr;

}  // namespace

detail::WaitingBlock::WaitingBlock(::boxcar::detail::LibraryBlock& block, bool (*wanted)()) noexcept
    : block_(block), wanted_(wanted), next_(const_cast<WaitingBlock*>(waiting)) {
  waiting = this;
}

void registerCudaKernels() {
  static std::atomic<bool> done = false;
  if (done.load(std::memory_order_acquire)) return;
  // A registering thread holds this lock and may also create the first tensor; with a separate lock, the two could
  // deadlock.
  const std::lock_guard lock(::boxcar::detail::registrationMutex());
  while (waiting != nullptr) {
    const detail::WaitingBlock& block = *std::exchange(waiting, waiting->next_);
    if (block.wanted_()) const ::boxcar::detail::LibraryLink link(block.block_);
  }
  Dispatcher::singleton().readLibraries();
  done.store(true, std::memory_order_release);
}

}  // namespace boxcar::native
