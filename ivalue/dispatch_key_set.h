#pragma once

#include <boxcar/ivalue/dispatch_key.h>
#include <boxcar/ivalue/macros.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <string>

namespace boxcar {

namespace detail {

// Where a functionality's slots begin in an operator's table, and which bits of a key set choose among them.
struct FunctionalityOffsetAndMask {
  uint32_t mask = 0;
  uint32_t offset = 0;
};

constexpr std::array<FunctionalityOffsetAndMask, num_functionality_keys> functionalityOffsetsAndMasks() {
  std::array<FunctionalityOffsetAndMask, num_functionality_keys> result{};
  uint32_t offset = 0;
  for (uint16_t key = 0; key < num_functionality_keys; ++key) {
    const bool per_backend = isPerBackendFunctionalityKey(static_cast<DispatchKey>(key));
    result[key] = {per_backend ? static_cast<uint32_t>(full_backend_mask) : 0, offset};
    offset += per_backend ? num_backends : 1;
  }
  return result;
}

inline constexpr auto kOffsetsAndMasks = functionalityOffsetsAndMasks();
static_assert(kOffsetsAndMasks.back().offset == num_runtime_entries - 1);

}  // namespace detail

// A set of backends and functionalities, in one word. Backends have the low bits (CPUBit is bit 0). Functionality key k
// has bit num_backends + k - 1, so the highest bit is the functionality that is dispatched first. Per-backend
// functionalities and backends are stored separately: the runtime keys of a set are their cross product.
//
//   DispatchKeySet keys({DispatchKey::CPU, DispatchKey::AutogradCPU});
//   keys.highestPriorityTypeId();                       // AutogradCPU
//   (keys & after_autograd_keyset).highestPriorityTypeId();  // CPU
class DispatchKeySet final {
 public:
  enum Full { FULL };
  enum FullAfter { FULL_AFTER };
  enum Raw { RAW };

  constexpr DispatchKeySet() = default;
  // Every functionality and every backend.
  constexpr explicit DispatchKeySet(Full) : repr_((uint64_t{1} << (num_backends + num_functionality_keys - 1)) - 1) {}
  // Every functionality below [key]'s, all backends, and PythonDispatcher, which no redispatch drops.
  constexpr DispatchKeySet(FullAfter, DispatchKey key)
      : repr_(((uint64_t{1} << (num_backends + static_cast<uint16_t>(toFunctionalityKey(key)) - 1)) - 1) |
              DispatchKeySet(DispatchKey::PythonDispatcher).repr_) {}
  constexpr DispatchKeySet(Raw, uint64_t repr) : repr_(repr) {}
  constexpr explicit DispatchKeySet(BackendComponent backend)
      : repr_(backend == BackendComponent::InvalidBit ? 0 : uint64_t{1} << (static_cast<uint8_t>(backend) - 1)) {}
  // A per-backend runtime key sets two bits, its functionality's and its backend's; Undefined and alias keys set none.
  constexpr explicit DispatchKeySet(DispatchKey key)
      : repr_(functionalityBit(toFunctionalityKey(key)) | DispatchKeySet(toBackendComponent(key)).repr_) {}
  constexpr explicit DispatchKeySet(std::initializer_list<DispatchKey> keys) {
    for (const DispatchKey key : keys) repr_ |= DispatchKeySet(key).repr_;
  }
  constexpr explicit DispatchKeySet(std::initializer_list<BackendComponent> backends) {
    for (const BackendComponent backend : backends) repr_ |= DispatchKeySet(backend).repr_;
  }

  // Returns true when all bits of [key] are in the set; false for Undefined and for alias keys, which no set holds.
  constexpr bool has(DispatchKey key) const {
    const DispatchKeySet wanted(key);
    return !wanted.empty() && has_all(wanted);
  }
  constexpr bool has_backend(BackendComponent backend) const { return has_any(DispatchKeySet(backend)); }
  constexpr bool has_all(DispatchKeySet other) const { return (repr_ & other.repr_) == other.repr_; }
  // Compares bits, so pass functionalities without backends, or backends alone: a shared backend bit also counts.
  constexpr bool has_any(DispatchKeySet other) const { return (repr_ & other.repr_) != 0; }
  constexpr bool isSupersetOf(DispatchKeySet other) const { return has_all(other); }
  constexpr bool empty() const { return repr_ == 0; }
  constexpr uint64_t raw_repr() const { return repr_; }

  constexpr DispatchKeySet operator|(DispatchKeySet other) const { return {RAW, repr_ | other.repr_}; }
  constexpr DispatchKeySet operator&(DispatchKeySet other) const { return {RAW, repr_ & other.repr_}; }
  // Removes the functionalities of [other], but no backend: other functionalities may need it.
  constexpr DispatchKeySet operator-(DispatchKeySet other) const {
    return {RAW, repr_ & (full_backend_mask | ~other.repr_)};
  }
  constexpr DispatchKeySet operator^(DispatchKeySet other) const { return {RAW, repr_ ^ other.repr_}; }
  constexpr DispatchKeySet& operator|=(DispatchKeySet other) { return *this = *this | other; }
  constexpr DispatchKeySet& operator&=(DispatchKeySet other) { return *this = *this & other; }
  constexpr bool operator==(const DispatchKeySet&) const = default;

  [[nodiscard]] constexpr DispatchKeySet add(DispatchKey key) const { return *this | DispatchKeySet(key); }
  [[nodiscard]] constexpr DispatchKeySet add(DispatchKeySet keys) const { return *this | keys; }
  // Removes the functionality of [key]; its backend stays.
  [[nodiscard]] constexpr DispatchKeySet remove(DispatchKey key) const { return *this - DispatchKeySet(key); }
  [[nodiscard]] constexpr DispatchKeySet remove_backend(BackendComponent backend) const {
    return {RAW, repr_ & ~DispatchKeySet(backend).repr_};
  }

  // Returns 1 + the number of the highest bit; 0 for the empty set.
  constexpr uint8_t indexOfHighestBit() const { return static_cast<uint8_t>(std::bit_width(repr_)); }
  // Returns Undefined when there is none.
  constexpr DispatchKey highestFunctionalityKey() const {
    return static_cast<DispatchKey>(std::bit_width(repr_ >> num_backends));
  }
  // Returns InvalidBit when there is none.
  constexpr BackendComponent highestBackendKey() const {
    return static_cast<BackendComponent>(std::bit_width(repr_ & full_backend_mask));
  }
  // Returns the runtime key that a call with this set is dispatched to.
  constexpr DispatchKey highestPriorityTypeId() const {
    const DispatchKey functionality = highestFunctionalityKey();
    return isPerBackendFunctionalityKey(functionality)
               ? toRuntimePerBackendFunctionalityKey(functionality, highestBackendKey())
               : functionality;
  }

  // Returns the slot of highestPriorityTypeId() in an operator's table. Nine instructions on x86-64, because no scan
  // needs a test for zero: the first sees all backend bits set, below the functionalities; the second sees bit 0 set,
  // where no backend and CPU share a slot.
  [[gnu::always_inline]] constexpr uint32_t getDispatchTableIndex() const {
    const auto& entry = detail::kOffsetsAndMasks[highestBit(repr_ | full_backend_mask) - (num_backends - 1)];
    return entry.offset + static_cast<uint32_t>(highestBit(static_cast<uint32_t>(repr_ & entry.mask) | 1));
  }
  // Like getDispatchTableIndex(), under c10's name.
  constexpr int getDispatchTableIndexForDispatchKeySet() const { return static_cast<int>(getDispatchTableIndex()); }
  // Returns the position of the highest backend among all backends; 0 for CPU and for none.
  constexpr uint64_t getBackendIndex() const { return highestBit((repr_ & full_backend_mask) | 1); }

  // Iterates over the runtime keys from the lowest functionality up; per-backend ones appear once for each backend of
  // the set. At the end it returns EndOfFunctionalityKeys and stays there.
  class iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = DispatchKey;
    using difference_type = std::ptrdiff_t;
    using pointer = const DispatchKey*;
    using reference = DispatchKey;

    constexpr iterator() = default;
    constexpr explicit iterator(DispatchKeySet keys)
        : functionalities_(keys.repr_ >> num_backends | kEnd),
          all_backends_(keys.repr_ & full_backend_mask),
          backends_(all_backends_) {
      skipWithoutBackend();
    }

    constexpr DispatchKey operator*() const {
      const DispatchKey key = functionality();
      if (!isPerBackendFunctionalityKey(key)) return key;
      return toRuntimePerBackendFunctionalityKey(key, static_cast<BackendComponent>(std::countr_zero(backends_) + 1));
    }
    constexpr iterator& operator++() {
      if (functionalities_ == kEnd) return *this;
      if (isPerBackendFunctionalityKey(functionality())) backends_ &= backends_ - 1;
      if (backends_ == 0 || !isPerBackendFunctionalityKey(functionality())) {
        functionalities_ &= functionalities_ - 1;
        backends_ = all_backends_;
        skipWithoutBackend();
      }
      return *this;
    }
    constexpr iterator operator++(int) {
      const iterator previous = *this;
      ++*this;
      return previous;
    }
    constexpr bool operator==(const iterator& other) const {
      return functionalities_ == other.functionalities_ && (functionalities_ == kEnd || backends_ == other.backends_);
    }

   private:
    // The bit behind the last functionality.
    static constexpr uint64_t kEnd = uint64_t{1} << (static_cast<uint16_t>(DispatchKey::EndOfFunctionalityKeys) - 1);

    constexpr DispatchKey functionality() const {
      return static_cast<DispatchKey>(std::countr_zero(functionalities_) + 1);
    }
    // A per-backend functionality in a set without backends has no runtime key.
    constexpr void skipWithoutBackend() {
      while (all_backends_ == 0 && isPerBackendFunctionalityKey(functionality())) {
        functionalities_ &= functionalities_ - 1;
      }
    }

    uint64_t functionalities_ = kEnd;
    uint64_t all_backends_ = 0;
    uint64_t backends_ = 0;
  };

  constexpr iterator begin() const { return iterator(*this); }
  constexpr iterator end() const { return iterator(); }

 private:
  static constexpr uint64_t functionalityBit(DispatchKey functionality) {
    return functionality == DispatchKey::Undefined
               ? 0
               : uint64_t{1} << (num_backends + static_cast<uint16_t>(functionality) - 1);
  }
  // Returns the number of the highest bit of [bits], which must not be 0. One scan instruction includes the exclusive
  // or.
  static constexpr size_t highestBit(uint64_t bits) { return static_cast<unsigned>(__builtin_clzll(bits)) ^ 63u; }
  static constexpr uint32_t highestBit(uint32_t bits) { return static_cast<unsigned>(__builtin_clz(bits)) ^ 31u; }

  uint64_t repr_ = 0;
};
static_assert(sizeof(DispatchKeySet) == 8);

// "DispatchKeySet(CPU, ADInplaceOrView)": the runtime keys in iteration order.
BOXCAR_API std::string toString(DispatchKeySet keys);

constexpr int getDispatchTableIndexForDispatchKey(DispatchKey key) {
  return DispatchKeySet(key).getDispatchTableIndexForDispatchKeySet();
}

inline constexpr DispatchKeySet backend_bitset_mask(DispatchKeySet::RAW, full_backend_mask);

// Has no backend bits, so that `keys - autograd_dispatch_keyset` reads as what it does.
inline constexpr DispatchKeySet autograd_dispatch_keyset({DispatchKey::AutogradFunctionality,
                                                          DispatchKey::AutogradOther,
                                                          DispatchKey::AutogradNestedTensor});
inline constexpr DispatchKeySet autograd_dispatch_keyset_with_ADInplaceOrView =
    autograd_dispatch_keyset.add(DispatchKey::ADInplaceOrView);
inline constexpr DispatchKeySet autocast_dispatch_keyset({DispatchKey::AutocastCPU, DispatchKey::AutocastXPU,
                                                          DispatchKey::AutocastIPU, DispatchKey::AutocastHPU,
                                                          DispatchKey::AutocastXLA, DispatchKey::AutocastCUDA,
                                                          DispatchKey::AutocastPrivateUse1});

// What every thread starts with.
inline constexpr DispatchKeySet default_included_set({DispatchKey::BackendSelect, DispatchKey::ADInplaceOrView});
inline constexpr DispatchKeySet default_excluded_set = autocast_dispatch_keyset;

inline constexpr DispatchKeySet python_ks({DispatchKey::Python, DispatchKey::PythonTLSSnapshot});
inline constexpr DispatchKeySet sparse_ks(DispatchKey::Sparse);
inline constexpr DispatchKeySet sparse_csr_ks({DispatchKey::SparseCsrCPU, DispatchKey::SparseCsrCUDA});
inline constexpr DispatchKeySet mkldnn_ks(DispatchKey::MkldnnCPU);
inline constexpr DispatchKeySet functorch_transforms_ks({DispatchKey::FuncTorchBatched, DispatchKey::FuncTorchVmapMode,
                                                         DispatchKey::Batched, DispatchKey::VmapMode,
                                                         DispatchKey::FuncTorchGradWrapper});
inline constexpr DispatchKeySet functorch_batched_ks(DispatchKey::FuncTorchBatched);

// The functionalities without their own autograd key, with all backend bits: AutogradOther serves them.
inline constexpr DispatchKeySet autogradother_backends =
    DispatchKeySet({DispatchKey::FPGA, DispatchKey::ORT, DispatchKey::Vulkan, DispatchKey::Metal,
                    DispatchKey::SparseCsrCPU, DispatchKey::SparseCsrCUDA, DispatchKey::CustomRNGKeyId,
                    DispatchKey::MkldnnCPU, DispatchKey::Sparse, DispatchKey::Quantized}) |
    backend_bitset_mask;
// The functionalities whose kernels belong to a backend.
inline constexpr DispatchKeySet backend_functionality_keys =
    DispatchKeySet({DispatchKey::Dense, DispatchKey::Quantized, DispatchKey::Sparse}) | sparse_csr_ks |
    backend_bitset_mask;

// The runtime keys of the composite aliases. NestedTensor takes composite implicit kernels but no explicit ones.
inline constexpr DispatchKeySet backend_dispatch_keyset = autogradother_backends.add(DispatchKey::Dense);
inline constexpr DispatchKeySet non_functional_backend_dispatch_keyset =
    backend_dispatch_keyset.remove(DispatchKey::Sparse)
        .remove_backend(BackendComponent::XLABit)
        .remove_backend(BackendComponent::LazyBit);
inline constexpr DispatchKeySet math_dispatch_keyset =
    backend_dispatch_keyset | autograd_dispatch_keyset |
    DispatchKeySet({DispatchKey::NestedTensor, DispatchKey::Functionalize});
inline constexpr DispatchKeySet nested_dispatch_keyset =
    DispatchKeySet({DispatchKey::AutogradNestedTensor, DispatchKey::NestedTensor}) | backend_bitset_mask;

// The keys that remain after a level has run: `redispatch(keys & after_autograd_keyset, ...)`.
inline constexpr DispatchKeySet after_autograd_keyset(DispatchKeySet::FULL_AFTER, DispatchKey::AutogradOther);
inline constexpr DispatchKeySet after_ADInplaceOrView_keyset(DispatchKeySet::FULL_AFTER, DispatchKey::ADInplaceOrView);
inline constexpr DispatchKeySet after_func_keyset(DispatchKeySet::FULL_AFTER, DispatchKey::Functionalize);

// Returns true for runtime keys (and functionalities) that stand for a backend's kernels.
constexpr bool isBackendDispatchKey(DispatchKey key) {
  return key != DispatchKey::NestedTensor && backend_dispatch_keyset.has(key);
}

// Returns the runtime keys of an alias key, with the backend bits they need; for any other key, that key alone.
constexpr DispatchKeySet getRuntimeDispatchKeySet(DispatchKey key) {
  switch (key) {
    case DispatchKey::Autograd: return autograd_dispatch_keyset | backend_bitset_mask;
    case DispatchKey::CompositeImplicitAutograd: return math_dispatch_keyset;
    case DispatchKey::CompositeImplicitAutogradNestedTensor: return nested_dispatch_keyset;
    case DispatchKey::CompositeExplicitAutograd: return backend_dispatch_keyset;
    case DispatchKey::CompositeExplicitAutogradNonFunctional: return non_functional_backend_dispatch_keyset;
    case DispatchKey::FuncTorchBatchedDecomposition: return functorch_batched_ks;
    default: return DispatchKeySet(key);
  }
}

// Returns true when [key] is one of the runtime keys of [alias]; if [alias] is no alias key, when the two are equal.
constexpr bool runtimeDispatchKeySetHas(DispatchKey alias, DispatchKey key) {
  if (!isAliasDispatchKey(alias)) return alias == key;
  return getRuntimeDispatchKeySet(alias).has(key);
}

// Like runtimeDispatchKeySetHas(), but false for Undefined.
constexpr bool isIncludedInAlias(DispatchKey key, DispatchKey alias) {
  return key != DispatchKey::Undefined && runtimeDispatchKeySetHas(alias, key);
}

// Returns the backend keys that an autograd runtime key serves: {CPU} for AutogradCPU. Empty for every other key.
constexpr DispatchKeySet getBackendKeySetFromAutograd(DispatchKey key) {
  if (key == DispatchKey::AutogradOther) return autogradother_backends;
  if (key == DispatchKey::AutogradNestedTensor) return DispatchKeySet(DispatchKey::NestedTensor) | backend_bitset_mask;
  const BackendComponent backend = toBackendComponent(key);
  if (toFunctionalityKey(key) != DispatchKey::AutogradFunctionality || backend == BackendComponent::InvalidBit) {
    return DispatchKeySet();
  }
  return DispatchKeySet(toRuntimePerBackendFunctionalityKey(DispatchKey::Dense, backend));
}

// Returns the extra keys of a tensor of [backend] that requires grad: {ADInplaceOrView, AutogradCPU} for CPUBit.
// InvalidBit stands for the backends without a bit and gives AutogradOther.
constexpr DispatchKeySet getAutogradRelatedKeySetFromBackend(BackendComponent backend) {
  const DispatchKey autograd = backend == BackendComponent::InvalidBit
                                   ? DispatchKey::AutogradOther
                                   : toRuntimePerBackendFunctionalityKey(DispatchKey::AutogradFunctionality, backend);
  return DispatchKeySet({DispatchKey::ADInplaceOrView, autograd});
}

// Returns {AutocastCPU} for CPUBit; empty for the backends without an autocast key.
constexpr DispatchKeySet getAutocastRelatedKeySetFromBackend(BackendComponent backend) {
  switch (backend) {
    case BackendComponent::CPUBit: return DispatchKeySet(DispatchKey::AutocastCPU);
    case BackendComponent::XPUBit: return DispatchKeySet(DispatchKey::AutocastXPU);
    case BackendComponent::IPUBit: return DispatchKeySet(DispatchKey::AutocastIPU);
    case BackendComponent::HPUBit: return DispatchKeySet(DispatchKey::AutocastHPU);
    case BackendComponent::XLABit: return DispatchKeySet(DispatchKey::AutocastXLA);
    case BackendComponent::CUDABit: return DispatchKeySet(DispatchKey::AutocastCUDA);
    case BackendComponent::PrivateUse1Bit: return DispatchKeySet(DispatchKey::AutocastPrivateUse1);
    default: return DispatchKeySet();
  }
}

// Returns the highest key that is a backend's: CPU for {CPU, AutogradCPU, ADInplaceOrView}.
constexpr DispatchKey highestPriorityBackendTypeId(DispatchKeySet keys) {
  return (keys & backend_functionality_keys).highestPriorityTypeId();
}

}  // namespace boxcar
