#pragma once

#include <boxcar/dispatcher/boxing/kernel.h>
#include <boxcar/ivalue/dispatch_key.h>

#include <atomic>
#include <cstddef>

// Levels whose table entries lead to modes first. PreDispatch and Python are none: modes are the default there.

namespace boxcar {

class OperatorEntry;

namespace detail {

// What an entry of such a level holds. Calls may still read it when the level is no longer one, so it is never freed.
struct InterceptedKernel : Kernel {
  explicit InterceptedKernel(const Kernel* kernel);
  std::atomic<const Kernel*> inner;  // what the entry would hold
};

// Makes [level], a functionality, such a level until releaseLevel() was called as often. Takes the registration lock.
void interceptLevel(DispatchKey level);
void releaseLevel(DispatchKey level) noexcept;

// The following need the registration lock.

bool areLevelsIntercepted() noexcept;
// Returns what the table entry [index] of an operator holds, where it would hold [kernel].
const Kernel* inFrontOf(const OperatorEntry& entry, size_t index, const Kernel* kernel);

// Set by the dispatcher: computes the entries of all operators at a runtime key anew.
struct LevelUpdater {
  void (*update)(void* dispatcher, DispatchKey key);
  void* dispatcher;
};
void setLevelUpdater(LevelUpdater updater) noexcept;

// Runs this thread's modes at a level: the function of an InterceptedKernel.
void runLevelModes(const Kernel* kernel, const OperatorHandle& op, DispatchKeySet keys, Stack& stack);

// What a table entry that holds [kernel] would hold without modes.
inline const Kernel* behindModes(const Kernel* kernel) noexcept {
  if (kernel->boxed != &runLevelModes) return kernel;
  return static_cast<const InterceptedKernel*>(kernel)->inner.load(std::memory_order_acquire);
}

}  // namespace detail
}  // namespace boxcar
