#include <boxcar/backends/dense/registration.h>
#include <boxcar/dispatcher/dispatcher.h>

#include <mutex>

namespace boxcar::dense {
namespace {

constinit const detail::WaitingBlock* waiting = nullptr;

}  // namespace

detail::WaitingBlock::WaitingBlock(::boxcar::detail::LibraryBlock& block, bool (*wanted)()) noexcept
    : block_(block), wanted_(wanted), next_(const_cast<WaitingBlock*>(waiting)) {
  waiting = this;
}

void registerCudaKernels() {
  static std::once_flag once;
  std::call_once(once, [] {
    for (const detail::WaitingBlock* block = waiting; block != nullptr; block = block->next_) {
      if (block->wanted_()) const ::boxcar::detail::LibraryLink link(block->block_);
    }
    Dispatcher::singleton().readLibraries();
  });
}

}  // namespace boxcar::dense
