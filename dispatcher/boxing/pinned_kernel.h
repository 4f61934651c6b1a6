#pragma once

#include <boxcar/dispatcher/boxing/boxing.h>
#include <boxcar/dispatcher/boxing/cpp_signature.h>
#include <boxcar/dispatcher/boxing/kernel.h>
#include <boxcar/ivalue/macros.h>

#include <atomic>
#include <cstdint>
#include <memory>

namespace boxcar {

class OperatorEntry;

namespace detail {

// Keeps a kernel's state alive while calls are inside it, although nothing on the call path takes a lock.
//
// A table entry points to a slot's kernel, never to the state itself. Slots are never freed: a caller that read a
// table entry just before it changed may still register in the slot. Entering and retiring change one word, so either
// the caller sees that the slot is retired, or the retiring thread sees the caller. The last caller to leave a retired
// slot destroys the state. The slot is reused for a later kernel of the same operator and C++ type, so memory is
// bounded by the number of kernels and calls at a time. A late caller therefore looks into the table again, and runs
// the state only if its table entry still holds the slot. Code that removes a kernel changes the table entries first
// and retires the slot afterwards: in the other order, callers would keep coming back to a slot that turns them away.
class BOXCAR_API KernelSlot {
 public:
  KernelSlot(const KernelSlot&) = delete;
  KernelSlot& operator=(const KernelSlot&) = delete;

  // What table entries point to.
  const Kernel* kernel() const noexcept { return kernel_; }
  // The C++ type that typed callers rely on; null for a kernel that can only be called boxed.
  const CppSignature* signature() const noexcept { return signature_; }
  bool isFree() const noexcept { return word_.load(std::memory_order_acquire) >> kStateShift == kFree; }

  // The following are called by the Dispatcher, under its lock. Gives a free slot [state], whose type must match the
  // slot's.
  void fill(std::shared_ptr<const Kernel> state) noexcept;
  // Call it after every table entry that pointed to the slot points elsewhere. Destroys the state now if no call is
  // inside it.
  void retire() noexcept;

  // The slots of one owner, newest first.
  KernelSlot* next = nullptr;

 protected:
  KernelSlot(const Kernel* kernel, const CppSignature* signature, const OperatorEntry* entry) noexcept
      : kernel_(kernel), signature_(signature), entry_(entry) {}
  ~KernelSlot() = default;

  const OperatorEntry& entry() const noexcept { return *entry_; }

 private:
  friend class KernelPin;

  // The low half counts the calls inside; the high half is the State.
  static constexpr int kStateShift = 32;
  enum State : uint64_t { kFree, kLive, kRetired, kDestroying };

  // Counts a call in. Returns whether the call may run the state, which [entry]'s table decides for [keys].
  bool enter(const OperatorEntry& entry, DispatchKeySet keys) noexcept;
  void leave() noexcept;
  void destroyStateIfUnused() noexcept;

  std::atomic<uint64_t> word_{uint64_t{kFree} << kStateShift};
  std::shared_ptr<const Kernel> state_;
  const Kernel* kernel_;
  const CppSignature* signature_;
  const OperatorEntry* entry_;
};

// A call inside a slot: says what to run, while it lives.
class BOXCAR_API KernelPin final {
 public:
  KernelPin(KernelSlot& slot, const OperatorEntry& entry, DispatchKeySet keys) noexcept;
  ~KernelPin() {
    if (slot_ != nullptr) slot_->leave();
  }
  KernelPin(const KernelPin&) = delete;
  KernelPin& operator=(const KernelPin&) = delete;

  // The slot's own state, or the kernel that the table entry points to by now.
  const Kernel* kernel() const noexcept { return kernel_; }

 private:
  KernelSlot* slot_;
  const Kernel* kernel_;
};

// Returns the operator of an entry, for a kernel that only gets the arguments. Defined where OperatorHandle is
// complete; [R] only defers its use until then.
template <class R>
OperatorHandle handleOf(const OperatorEntry& entry) noexcept;

// The slot of a kernel that has no C++ type; table entries of any operator may point to it.
struct PinnedBoxedKernel final : Kernel, KernelSlot {
  PinnedBoxedKernel() noexcept : Kernel{&run}, KernelSlot(this, nullptr, nullptr) {}

  static KernelSlot* make(const OperatorEntry*) { return new PinnedBoxedKernel; }

 private:
  BOXCAR_API static void run(const Kernel* kernel, const OperatorHandle& op, DispatchKeySet keys, Stack& stack);
};

template <class Function>
struct PinnedKernel;

// The slot of one operator's kernels of type [Function], in canonical types.
template <class R, class... Args>
struct PinnedKernel<R(Args...)> final : UnboxedKernel<R(Args...)>, KernelSlot {
  explicit PinnedKernel(const OperatorEntry* entry) noexcept
      : UnboxedKernel<R(Args...)>(&runUnboxed, &runBoxed), KernelSlot(this, &CppSignature::of<R(Args...)>(), entry) {}

  static KernelSlot* make(const OperatorEntry* entry) { return new PinnedKernel(entry); }

 private:
  static PinnedKernel& slotOf(const Kernel* kernel) noexcept {
    return const_cast<PinnedKernel&>(*static_cast<const PinnedKernel*>(kernel));
  }

  static R runUnboxed(const Kernel* slot_kernel, DispatchKeySet keys, Args... args) {
    PinnedKernel& slot = slotOf(slot_kernel);
    const OperatorEntry& entry = slot.entry();
    const KernelPin pin(slot, entry, keys);
    const Kernel* kernel = pin.kernel();
    if (!kernel->has_unboxed) [[unlikely]] {
      checkArgumentCount(handleOf<R>(entry), sizeof...(Args));
      return boxAndCall<R, Args...>(kernel, handleOf<R>(entry), keys, static_cast<Args&&>(args)...);
    }
    return static_cast<const UnboxedKernel<R(Args...)>*>(kernel)->unboxed(kernel, keys, static_cast<Args&&>(args)...);
  }

  static void runBoxed(const Kernel* slot_kernel, const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
    PinnedKernel& slot = slotOf(slot_kernel);
    const KernelPin pin(slot, slot.entry(), keys);
    pin.kernel()->boxed(pin.kernel(), op, keys, stack);
  }
};

}  // namespace detail
}  // namespace boxcar
