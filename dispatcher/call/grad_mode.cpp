#include <boxcar/dispatcher/call/grad_mode.h>
#include <boxcar/dispatcher/call/local_dispatch_key_set.h>

namespace boxcar {

// The mode is whether the autograd keys are excluded, so calls need not ask for it.
bool GradMode::is_enabled() noexcept { return !tls_is_dispatch_key_excluded(DispatchKey::AutogradFunctionality); }

void GradMode::set_enabled(bool enabled) noexcept {
  if (enabled && InferenceMode::is_enabled()) return;  // what it switched off stays off
  constexpr uint64_t kBits = autograd_dispatch_keyset.raw_repr() & ~full_backend_mask;
  uint64_t& kept = raw_local_dispatch_key_set.kept_bits;
  kept = enabled ? kept | kBits : kept & ~kBits;
}

}  // namespace boxcar
