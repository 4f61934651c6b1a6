#pragma once

#include <boxcar/ivalue/dispatch_key.h>
#include <boxcar/ivalue/dispatch_key_set.h>

#include <array>
#include <cstddef>
#include <cstdint>

// The layout of an operator's table.

namespace boxcar::detail {

constexpr size_t tableIndexOf(DispatchKey key) { return static_cast<size_t>(getDispatchTableIndexForDispatchKey(key)); }

constexpr auto makeRuntimeKeys() {
  std::array<DispatchKey, num_runtime_entries> keys{};
  for (const DispatchKey key : DispatchKeySet(DispatchKeySet::FULL)) keys[tableIndexOf(key)] = key;
  return keys;
}

// The runtime key of each table entry; table entry 0 is Undefined's.
inline constexpr auto kRuntimeKeys = makeRuntimeKeys();

// Returns the key whose table entry a call with [keys] reads. A per-backend functionality in a set without a backend
// reads the table entry of its CPU key.
constexpr DispatchKey runtimeKeyOf(DispatchKeySet keys) { return kRuntimeKeys[keys.getDispatchTableIndex()]; }

constexpr auto makeFunctionalityBits() {
  std::array<uint64_t, num_runtime_entries> bits{};
  for (size_t i = 0; i < num_runtime_entries; ++i)
    bits[i] = DispatchKeySet(toFunctionalityKey(kRuntimeKeys[i])).raw_repr();
  return bits;
}

// The functionality of each table entry as a bit of a key set.
inline constexpr auto kFunctionalityBits = makeFunctionalityBits();

// Returns the key set that calls consider, given the kernels [kernelAt](table entry). A functionality is left out if
// every backend lets it through. If the backends differ, the table entry itself passes the call on.
template <class KernelAt>
uint64_t nonFallthroughKeysOf(KernelAt&& kernelAt) {
  uint64_t keys = full_backend_mask;
  for (size_t i = 1; i < num_runtime_entries; ++i) {
    if (!kernelAt(i)->isFallthrough()) keys |= kFunctionalityBits[i];
  }
  return keys;
}

}  // namespace boxcar::detail
