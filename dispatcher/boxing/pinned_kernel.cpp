#include <boxcar/dispatcher/boxing/pinned_kernel.h>
#include <boxcar/dispatcher/registry/intercepted_levels.h>
#include <boxcar/dispatcher/registry/operator_entry.h>
#include <boxcar/dispatcher/registry/operator_handle.h>

namespace boxcar::detail {

void KernelSlot::fill(std::shared_ptr<const Kernel> state) noexcept {
  state_ = std::move(state);
  word_.fetch_add((uint64_t{kLive} - kFree) << kStateShift, std::memory_order_release);
}

void KernelSlot::retire() noexcept {
  word_.fetch_add((uint64_t{kRetired} - kLive) << kStateShift, std::memory_order_acq_rel);
  destroyStateIfUnused();
}

bool KernelSlot::enter(const OperatorEntry& entry, DispatchKeySet keys) noexcept {
  // Reads what `fill` released, so this call sees the table entry changes made before the slot was reused.
  const uint64_t before = word_.fetch_add(1, std::memory_order_acq_rel);
  if (before >> kStateShift != kLive) return false;
  const Kernel* const found = entry.lookup(keys);
  return found == kernel_ || behindModes(found) == kernel_;
}

void KernelSlot::leave() noexcept {
  const uint64_t left = word_.fetch_sub(1, std::memory_order_acq_rel) - 1;
  if (left == uint64_t{kRetired} << kStateShift) [[unlikely]]
    destroyStateIfUnused();
}

void KernelSlot::destroyStateIfUnused() noexcept {
  // Late callers enter and leave retired slots, so several may get here; only one of them destroys the state.
  uint64_t retired = uint64_t{kRetired} << kStateShift;
  if (!word_.compare_exchange_strong(retired, uint64_t{kDestroying} << kStateShift, std::memory_order_acq_rel)) return;
  state_.reset();
  word_.fetch_sub((uint64_t{kDestroying} - kFree) << kStateShift, std::memory_order_release);
}

KernelPin::KernelPin(KernelSlot& slot, const OperatorEntry& entry, DispatchKeySet keys) noexcept
    : slot_(&slot), kernel_(nullptr) {
  if (slot.enter(entry, keys)) [[likely]] {
    kernel_ = slot.state_.get();
    return;
  }
  slot.leave();
  slot_ = nullptr;
  // The table entry has changed since the caller read it. If it points to this slot again, its kernel enters again.
  kernel_ = behindModes(entry.lookup(keys));
}

void PinnedBoxedKernel::run(const Kernel* kernel, const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
  auto& slot = const_cast<PinnedBoxedKernel&>(*static_cast<const PinnedBoxedKernel*>(kernel));
  const KernelPin pin(slot, op.entry(), keys);
  pin.kernel()->boxed(pin.kernel(), op, keys, stack);
}

}  // namespace boxcar::detail
