#include <boxcar/ivalue/dispatch_key.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/python_text.h>

#include <string>
#include <vector>

namespace boxcar {

namespace {

constexpr std::string_view kBackendNames[] = {"InvalidBit",
#define BOXCAR_NAME(name, prefix) #name "Bit",
                                              BOXCAR_FORALL_BACKEND_COMPONENTS(BOXCAR_NAME, )
#undef BOXCAR_NAME
};

// Indexed by the key's number.
constexpr std::string_view kKeyNames[] = {
    "Undefined",
#define BOXCAR_NAME(name) #name,
    BOXCAR_FORALL_FUNCTIONALITY_KEYS(BOXCAR_NAME) "EndOfFunctionalityKeys",
#define BOXCAR_RUNTIME_NAME(backend, prefix) #prefix #backend,
#define BOXCAR_RUNTIME_NAMES(functionality, prefix) \
  "StartOf" #functionality "Backends", BOXCAR_FORALL_BACKEND_COMPONENTS(BOXCAR_RUNTIME_NAME, prefix)
    BOXCAR_FORALL_PER_BACKEND_FUNCTIONALITIES(BOXCAR_RUNTIME_NAMES) BOXCAR_FORALL_ALIAS_KEYS(BOXCAR_NAME)
#undef BOXCAR_RUNTIME_NAMES
#undef BOXCAR_RUNTIME_NAME
#undef BOXCAR_NAME
};

static_assert(std::size(kBackendNames) == num_backends + 1);
static_assert(std::size(kKeyNames) == static_cast<size_t>(DispatchKey::EndOfAliasKeys) + 1);

struct OlderName {
  std::string_view name;
  DispatchKey key;
};
constexpr OlderName kOlderNames[] = {
    {"CatchAll", DispatchKey::CatchAll},
    {"CPUTensorId", DispatchKey::CPUTensorId},
    {"CUDATensorId", DispatchKey::CUDATensorId},
    {"DefaultBackend", DispatchKey::DefaultBackend},
    {"PrivateUse1_PreAutograd", DispatchKey::PrivateUse1_PreAutograd},
    {"PrivateUse2_PreAutograd", DispatchKey::PrivateUse2_PreAutograd},
    {"PrivateUse3_PreAutograd", DispatchKey::PrivateUse3_PreAutograd},
    {"Autocast", DispatchKey::Autocast},
};

// The enumerators that only mark ranges of keys; a kernel cannot be registered for one.
constexpr bool isMarker(size_t number) {
  const auto key = static_cast<DispatchKey>(number);
  return key == DispatchKey::EndOfFunctionalityKeys ||
         (key >= DispatchKey::StartOfDenseBackends && key <= DispatchKey::EndOfRuntimeBackendKeys &&
          toBackendComponent(key) == BackendComponent::InvalidBit);
}

}  // namespace

std::string_view toString(BackendComponent backend) {
  const auto number = static_cast<size_t>(backend);
  return number < std::size(kBackendNames) ? kBackendNames[number] : "UnknownBackendComponent";
}

std::string_view toString(DispatchKey key) {
  const auto number = static_cast<size_t>(key);
  return number < std::size(kKeyNames) ? kKeyNames[number] : "UnknownDispatchKey";
}

std::optional<DispatchKey> tryParseDispatchKey(std::string_view name) {
  for (size_t number = 0; number < std::size(kKeyNames); ++number) {
    if (kKeyNames[number] == name && !isMarker(number)) return static_cast<DispatchKey>(number);
  }
  for (const OlderName& older : kOlderNames) {
    if (older.name == name) return older.key;
  }
  return std::nullopt;
}

DispatchKey parseDispatchKey(std::string_view name) {
  if (const std::optional<DispatchKey> key = tryParseDispatchKey(name)) return *key;
  std::vector<std::string_view> candidates;
  for (size_t number = 0; number < std::size(kKeyNames); ++number) {
    if (!isMarker(number)) candidates.push_back(kKeyNames[number]);
  }
  for (const OlderName& older : kOlderNames) candidates.push_back(older.name);
  const std::string suggestion = didYouMean(name, candidates);
  BOXCAR_CHECK(!suggestion.empty(),
               "{} is not a dispatch key; a key is a backend's (CPU, QuantizedCUDA, AutogradMeta), a functionality "
               "(BackendSelect, Python) or an alias (Autograd, CompositeExplicitAutograd)",
               pythonStringRepr(name));
  BOXCAR_FAIL("{} is not a dispatch key.{}", pythonStringRepr(name), suggestion);
}

}  // namespace boxcar
