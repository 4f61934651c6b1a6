#pragma once

#include <boxcar/dispatcher/boxing/kernel_function.h>
#include <boxcar/dispatcher/registry/registration_site.h>
#include <boxcar/ivalue/dispatch_key.h>

#include <cstdint>

namespace boxcar {

// A kernel as it was registered for a key, which may be an alias key.
struct AnnotatedKernel {
  KernelFunction kernel;
  RegistrationSite site;
  DispatchKey key;
  uint64_t id;
  // What table entries point to: the kernel's own Kernel, or that of the slot that guards its state.
  const Kernel* table_kernel = nullptr;
  detail::KernelSlot* slot = nullptr;
};

namespace detail {

// Puts the state of [kernel], if it has any, into a free slot of the list [slots], or into a new slot for [entry].
void fillSlot(AnnotatedKernel& kernel, KernelSlot*& slots, const OperatorEntry* entry);

}  // namespace detail
}  // namespace boxcar
