#include <boxcar/dispatcher/call/local_dispatch_key_set.h>
#include <boxcar/dispatcher/call/mode_levels.h>

namespace boxcar {
namespace {

DispatchKeySet functionalities(DispatchKeySet keys) noexcept {
  return {DispatchKeySet::RAW, keys.raw_repr() & ~full_backend_mask};
}

// What others than modes include.
uint64_t includedByOthers() noexcept {
  const detail::ModeLevels* const modes = detail::mode_levels;
  return raw_local_dispatch_key_set.included_bits & ~(modes == nullptr ? 0 : modes->only);
}

void include(uint64_t bits) noexcept {
  raw_local_dispatch_key_set.included_bits |= bits;
  if (detail::mode_levels != nullptr) detail::mode_levels->only &= ~bits;
}

// Modes keep their levels.
void stopIncluding(uint64_t bits) noexcept {
  if (detail::ModeLevels* const modes = detail::mode_levels; modes != nullptr) {
    modes->only |= bits & modes->wanted;
    bits &= ~modes->wanted;
  }
  raw_local_dispatch_key_set.included_bits &= ~bits;
}

}  // namespace

constinit thread_local PODLocalDispatchKeySet raw_local_dispatch_key_set = {default_included_set.raw_repr(),
                                                                            ~default_excluded_set.raw_repr()};

namespace detail {

constinit thread_local ModeLevels* mode_levels = nullptr;

void includeForModes(DispatchKey level) noexcept {
  const uint64_t bits = functionalities(DispatchKeySet(level)).raw_repr();
  mode_levels->wanted |= bits;
  mode_levels->only |= bits & ~raw_local_dispatch_key_set.included_bits;
  raw_local_dispatch_key_set.included_bits |= bits;
}

void excludeForModes(DispatchKey level) noexcept {
  const uint64_t bits = functionalities(DispatchKeySet(level)).raw_repr();
  mode_levels->wanted &= ~bits;
  raw_local_dispatch_key_set.included_bits &= ~(bits & mode_levels->only);
  mode_levels->only &= ~bits;
}

}  // namespace detail

IncludeDispatchKeyGuard::IncludeDispatchKeyGuard(DispatchKeySet keys) noexcept
    : added_(functionalities(keys).raw_repr() & ~includedByOthers()) {
  include(added_);
}

IncludeDispatchKeyGuard::~IncludeDispatchKeyGuard() { stopIncluding(added_); }

ExcludeDispatchKeyGuard::ExcludeDispatchKeyGuard(DispatchKeySet keys) noexcept
    : added_(functionalities(keys).raw_repr() & raw_local_dispatch_key_set.kept_bits) {
  raw_local_dispatch_key_set.kept_bits &= ~added_;
}

ExcludeDispatchKeyGuard::~ExcludeDispatchKeyGuard() { raw_local_dispatch_key_set.kept_bits |= added_; }

ForceDispatchKeyGuard::ForceDispatchKeyGuard(DispatchKeySet include, DispatchKeySet exclude) noexcept
    : saved_(raw_local_dispatch_key_set) {
  raw_local_dispatch_key_set = {functionalities(include).raw_repr(), ~functionalities(exclude).raw_repr()};
}

ForceDispatchKeyGuard::~ForceDispatchKeyGuard() { raw_local_dispatch_key_set = saved_; }

InferenceMode::InferenceMode(bool enabled) noexcept
    : guard_(enabled ? raw_local_dispatch_key_set.included().remove(DispatchKey::ADInplaceOrView)
                     : raw_local_dispatch_key_set.included().add(DispatchKey::ADInplaceOrView),
             enabled ? raw_local_dispatch_key_set.excluded() | autograd_dispatch_keyset
                     : raw_local_dispatch_key_set.excluded() - autograd_dispatch_keyset) {}

bool InferenceMode::is_enabled() noexcept { return !tls_is_dispatch_key_included(DispatchKey::ADInplaceOrView); }

void TESTING_ONLY_tls_generic_mode_set_enabled(bool enabled) noexcept {
  tls_set_dispatch_key_included(DispatchKey::TESTING_ONLY_GenericMode, enabled);
}

bool tls_is_dispatch_key_included(DispatchKey key) noexcept {
  return (includedByOthers() & functionalities(DispatchKeySet(key)).raw_repr()) != 0;
}

bool tls_is_dispatch_key_excluded(DispatchKey key) noexcept {
  return raw_local_dispatch_key_set.excluded().has_any(functionalities(DispatchKeySet(key)));
}

bool tls_is_dispatch_keyset_included(DispatchKeySet keys) noexcept {
  return (functionalities(keys).raw_repr() & ~includedByOthers()) == 0;
}

bool tls_is_dispatch_keyset_excluded(DispatchKeySet keys) noexcept {
  return raw_local_dispatch_key_set.excluded().has_all(functionalities(keys));
}

void tls_set_dispatch_key_included(DispatchKey key, bool included) noexcept {
  const uint64_t bits = functionalities(DispatchKeySet(key)).raw_repr();
  included ? include(bits) : stopIncluding(bits);
}

void tls_set_dispatch_key_excluded(DispatchKey key, bool excluded) noexcept {
  const uint64_t bits = functionalities(DispatchKeySet(key)).raw_repr();
  uint64_t& kept = raw_local_dispatch_key_set.kept_bits;
  kept = excluded ? kept & ~bits : kept | bits;
}

}  // namespace boxcar
