#pragma once

#include <boxcar/ivalue/dispatch_key.h>
#include <boxcar/ivalue/dispatch_key_set.h>

#include <array>
#include <cstddef>
#include <cstdint>

// How the cells of an operator's table lie.

namespace boxcar::detail {

constexpr size_t tableIndexOf(DispatchKey key) { return static_cast<size_t>(getDispatchTableIndexForDispatchKey(key)); }

constexpr auto makeRuntimeKeys() {
  std::array<DispatchKey, num_runtime_entries> keys{};
  for (const DispatchKey key : DispatchKeySet(DispatchKeySet::FULL)) keys[tableIndexOf(key)] = key;
  return keys;
}

// The runtime key of each cell; cell 0 is Undefined's.
inline constexpr auto kRuntimeKeys = makeRuntimeKeys();

// The key whose cell a call with [keys] reads. A functionality with a key for each backend, in a set without a backend,
// reads its CPU key's.
constexpr DispatchKey runtimeKeyOf(DispatchKeySet keys) { return kRuntimeKeys[keys.getDispatchTableIndex()]; }

constexpr auto makeFunctionalityBits() {
  std::array<uint64_t, num_runtime_entries> bits{};
  for (size_t i = 0; i < num_runtime_entries; ++i)
    bits[i] = DispatchKeySet(toFunctionalityKey(kRuntimeKeys[i])).raw_repr();
  return bits;
}

// The functionality of each cell as a bit of a key set.
inline constexpr auto kFunctionalityBits = makeFunctionalityBits();

// The key set that a call with the records [recordAt](cell) looks at: a functionality is left out when every backend
// lets it through. Where they differ, the cell itself goes on.
template <class RecordAt>
uint64_t nonFallthroughKeysOf(RecordAt&& recordAt) {
  uint64_t keys = full_backend_mask;
  for (size_t i = 1; i < num_runtime_entries; ++i) {
    if (!recordAt(i)->isFallthrough()) keys |= kFunctionalityBits[i];
  }
  return keys;
}

}  // namespace boxcar::detail
