#pragma once

#include <boxcar/dispatcher/boxing/annotated_kernel.h>
#include <boxcar/ivalue/dispatch_key.h>
#include <boxcar/ivalue/macros.h>

#include <array>
#include <cstdint>
#include <optional>

namespace boxcar {

// Returns what a key does if the operator has no kernel and no fallback is registered: most functionalities let the
// call through, the others throw an Error that explains.
BOXCAR_API const Kernel* defaultKernelOf(DispatchKey key) noexcept;

// What serves all operators that have no kernel of their own at a key: the registered fallback, or else the key's
// default. Keys are runtime keys.
class BOXCAR_API BackendFallbacks final {
 public:
  BackendFallbacks();

  // Returns null if no fallback is registered.
  const AnnotatedKernel* find(DispatchKey key) const noexcept;
  // The key must not have a fallback yet.
  void add(AnnotatedKernel fallback);
  AnnotatedKernel remove(DispatchKey key);

  // What the table entries of an operator without kernels hold, and the keys that calls of such an operator consider.
  const std::array<const Kernel*, num_runtime_entries>& kernels() const noexcept { return kernels_; }
  uint64_t nonFallthroughKeys() const noexcept { return non_fallthrough_keys_; }

  // While a program's blocks are first read, no operator is called: operators compute their table entries once
  // afterwards (OperatorEntry::computeTableEntries), not after every kernel.
  bool holdsEntries() const noexcept { return holds_entries_; }
  void setHoldsEntries(bool holds) noexcept { holds_entries_ = holds; }

 private:
  void update(DispatchKey key);

  std::array<std::optional<AnnotatedKernel>, num_runtime_entries> fallbacks_;
  std::array<const Kernel*, num_runtime_entries> kernels_;
  uint64_t non_fallthrough_keys_ = 0;
  bool holds_entries_ = false;
};

}  // namespace boxcar
