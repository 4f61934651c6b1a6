#pragma once

#include <boxcar/ivalue/macros.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace boxcar {

// The backends that functionality can be customised for, lowest precedence first: _(name, prefix).
#define BOXCAR_FORALL_BACKEND_COMPONENTS(_, prefix) \
  _(CPU, prefix)                                    \
  _(CUDA, prefix)                                   \
  _(HIP, prefix)                                    \
  _(XLA, prefix)                                    \
  _(MPS, prefix)                                    \
  _(IPU, prefix)                                    \
  _(XPU, prefix)                                    \
  _(HPU, prefix)                                    \
  _(VE, prefix)                                     \
  _(Lazy, prefix)                                   \
  _(MTIA, prefix)                                   \
  _(PrivateUse1, prefix)                            \
  _(PrivateUse2, prefix)                            \
  _(PrivateUse3, prefix)                            \
  _(Meta, prefix)

// Every functionality above Undefined, lowest precedence first: a key set has one bit for each.
#define BOXCAR_FORALL_FUNCTIONALITY_KEYS(_) \
  _(Dense)                                  \
  _(FPGA)                                   \
  _(ORT)                                    \
  _(Vulkan)                                 \
  _(Metal)                                  \
  _(Quantized)                              \
  _(CustomRNGKeyId)                         \
  _(MkldnnCPU)                              \
  _(Sparse)                                 \
  _(SparseCsrCPU)                           \
  _(SparseCsrCUDA)                          \
  _(NestedTensor)                           \
  _(BackendSelect)                          \
  _(Python)                                 \
  _(Fake)                                   \
  _(FuncTorchDynamicLayerBackMode)          \
  _(Functionalize)                          \
  _(Named)                                  \
  _(Conjugate)                              \
  _(Negative)                               \
  _(ZeroTensor)                             \
  _(ADInplaceOrView)                        \
  _(AutogradOther)                          \
  _(AutogradFunctionality)                  \
  _(AutogradNestedTensor)                   \
  _(Tracer)                                 \
  _(AutocastCPU)                            \
  _(AutocastXPU)                            \
  _(AutocastIPU)                            \
  _(AutocastHPU)                            \
  _(AutocastXLA)                            \
  _(AutocastCUDA)                           \
  _(AutocastPrivateUse1)                    \
  _(FuncTorchBatched)                       \
  _(FuncTorchVmapMode)                      \
  _(Batched)                                \
  _(VmapMode)                               \
  _(FuncTorchGradWrapper)                   \
  _(DeferredInit)                           \
  _(PythonTLSSnapshot)                      \
  _(FuncTorchDynamicLayerFrontMode)         \
  _(TESTING_ONLY_GenericWrapper)            \
  _(TESTING_ONLY_GenericMode)               \
  _(PreDispatch)                            \
  _(PythonDispatcher)

// The functionalities with one table slot per backend: _(functionality, prefix of its runtime keys).
#define BOXCAR_FORALL_PER_BACKEND_FUNCTIONALITIES(_) \
  _(Dense, )                                         \
  _(Quantized, Quantized)                            \
  _(Sparse, Sparse)                                  \
  _(NestedTensor, NestedTensor)                      \
  _(AutogradFunctionality, Autograd)

// The keys that stand for several runtime keys when a kernel is registered, and are never dispatched to.
#define BOXCAR_FORALL_ALIAS_KEYS(_)        \
  _(Autograd)                              \
  _(CompositeImplicitAutograd)             \
  _(FuncTorchBatchedDecomposition)         \
  _(CompositeImplicitAutogradNestedTensor) \
  _(CompositeExplicitAutograd)             \
  _(CompositeExplicitAutogradNonFunctional)

// A backend as a bit of a key set: bit number [value] - 1.
enum class BackendComponent : uint8_t {
  InvalidBit = 0,
#define BOXCAR_BACKEND_BIT(name, prefix) name##Bit,
  BOXCAR_FORALL_BACKEND_COMPONENTS(BOXCAR_BACKEND_BIT, )
#undef BOXCAR_BACKEND_BIT
      EndOfBackendKeys = MetaBit,
};

// One possible level of a call. Functionality keys (1 to 45) have a bit in a DispatchKeySet. An operator's table has a
// slot for each functionality key that is not per backend, and for each runtime key, which is built from a per-backend
// functionality and a backend.
enum class DispatchKey : uint16_t {
  Undefined = 0,
  CatchAll = Undefined,

#define BOXCAR_KEY(name) name,
  BOXCAR_FORALL_FUNCTIONALITY_KEYS(BOXCAR_KEY) EndOfFunctionalityKeys,

#define BOXCAR_RUNTIME_KEY(backend, prefix) prefix##backend,
#define BOXCAR_RUNTIME_KEYS(functionality, prefix) \
  StartOf##functionality##Backends,                \
      BOXCAR_FORALL_BACKEND_COMPONENTS(BOXCAR_RUNTIME_KEY, prefix) EndOf##functionality##Backends = prefix##Meta,
  BOXCAR_FORALL_PER_BACKEND_FUNCTIONALITIES(BOXCAR_RUNTIME_KEYS)
#undef BOXCAR_RUNTIME_KEYS
#undef BOXCAR_RUNTIME_KEY
      EndOfRuntimeBackendKeys = EndOfAutogradFunctionalityBackends,

  BOXCAR_FORALL_ALIAS_KEYS(BOXCAR_KEY)
#undef BOXCAR_KEY
      StartOfAliasKeys = Autograd,
  EndOfAliasKeys = CompositeExplicitAutogradNonFunctional,

  // Older names, kept for code that still uses them.
  CPUTensorId = CPU,
  CUDATensorId = CUDA,
  DefaultBackend = CompositeExplicitAutograd,
  PrivateUse1_PreAutograd = AutogradPrivateUse1,
  PrivateUse2_PreAutograd = AutogradPrivateUse2,
  PrivateUse3_PreAutograd = AutogradPrivateUse3,
  Autocast = AutocastCUDA,
};

inline constexpr uint8_t num_backends = static_cast<uint8_t>(BackendComponent::EndOfBackendKeys);
// Includes Undefined, which has slot 0 of the table.
inline constexpr uint8_t num_functionality_keys = static_cast<uint8_t>(DispatchKey::EndOfFunctionalityKeys);
inline constexpr uint64_t full_backend_mask = (uint64_t{1} << num_backends) - 1;

static_assert(num_backends == 15 && num_functionality_keys == 46);
static_assert(num_backends + num_functionality_keys <= 64, "a DispatchKeySet is 64 bits");
static_assert(static_cast<uint16_t>(DispatchKey::EndOfRuntimeBackendKeys) == 126);
static_assert(static_cast<uint16_t>(DispatchKey::EndOfAliasKeys) == 132);

// Returns true for Dense, Quantized, Sparse, NestedTensor and AutogradFunctionality, which have one bit in a key set
// and a slot per backend.
constexpr bool isPerBackendFunctionalityKey(DispatchKey key) {
  switch (key) {
#define BOXCAR_CASE(functionality, prefix) case DispatchKey::functionality:
    BOXCAR_FORALL_PER_BACKEND_FUNCTIONALITIES(BOXCAR_CASE)
#undef BOXCAR_CASE
    return true;
    default: return false;
  }
}

constexpr uint8_t numPerBackendFunctionalityKeys() {
  uint8_t count = 0;
  for (uint16_t key = 0; key < num_functionality_keys; ++key) {
    count += isPerBackendFunctionalityKey(static_cast<DispatchKey>(key));
  }
  return count;
}

// The slots of an operator's table: one per functionality, or one per backend where the functionality is per backend.
inline constexpr uint16_t num_runtime_entries =
    num_functionality_keys + numPerBackendFunctionalityKeys() * (num_backends - 1);
static_assert(num_runtime_entries == 116);

constexpr bool isAliasDispatchKey(DispatchKey key) {
  return key >= DispatchKey::StartOfAliasKeys && key <= DispatchKey::EndOfAliasKeys;
}

// Returns the functionality of a functionality or runtime key: AutogradFunctionality for AutogradCPU. Undefined for
// alias keys.
constexpr DispatchKey toFunctionalityKey(DispatchKey key) {
  if (key <= DispatchKey::EndOfFunctionalityKeys) return key;
#define BOXCAR_RANGE(functionality, prefix) \
  if (key <= DispatchKey::EndOf##functionality##Backends) return DispatchKey::functionality;
  BOXCAR_FORALL_PER_BACKEND_FUNCTIONALITIES(BOXCAR_RANGE)
#undef BOXCAR_RANGE
  return DispatchKey::Undefined;
}

// Returns the backend of a per-backend runtime key: CPUBit for AutogradCPU. InvalidBit for every other key.
constexpr BackendComponent toBackendComponent(DispatchKey key) {
  if (key < DispatchKey::StartOfDenseBackends || key > DispatchKey::EndOfRuntimeBackendKeys) {
    return BackendComponent::InvalidBit;
  }
  const auto distance = static_cast<uint16_t>(key) - static_cast<uint16_t>(DispatchKey::StartOfDenseBackends);
  return static_cast<BackendComponent>(distance % (num_backends + 1));
}

// Returns true for keys with a slot in an operator's table, including Undefined: what a call can be dispatched to.
constexpr bool isRuntimeDispatchKey(DispatchKey key) {
  if (key < DispatchKey::EndOfFunctionalityKeys) return !isPerBackendFunctionalityKey(key);
  return toBackendComponent(key) != BackendComponent::InvalidBit;
}

// Returns the runtime key of [functionality] on [backend]: AutogradCPU for AutogradFunctionality and CPUBit. Undefined
// when the functionality is not per backend.
constexpr DispatchKey toRuntimePerBackendFunctionalityKey(DispatchKey functionality, BackendComponent backend) {
  switch (functionality) {
#define BOXCAR_CASE(functionality, prefix)                                                                 \
  case DispatchKey::functionality:                                                                         \
    return static_cast<DispatchKey>(static_cast<uint16_t>(DispatchKey::StartOf##functionality##Backends) + \
                                    static_cast<uint16_t>(backend));
    BOXCAR_FORALL_PER_BACKEND_FUNCTIONALITIES(BOXCAR_CASE)
#undef BOXCAR_CASE
    default: return DispatchKey::Undefined;
  }
}

// Returns the enumerator's name: "AutogradCPU", "CPUBit".
BOXCAR_API std::string_view toString(DispatchKey key);
BOXCAR_API std::string_view toString(BackendComponent backend);

// Returns the key with this name, older names included. Throws an Error that names the text and its nearest names.
BOXCAR_API DispatchKey parseDispatchKey(std::string_view name);
// Like parseDispatchKey(), but returns nullopt for an unknown name.
BOXCAR_API std::optional<DispatchKey> tryParseDispatchKey(std::string_view name);

}  // namespace boxcar
