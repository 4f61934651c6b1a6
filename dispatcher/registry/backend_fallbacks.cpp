#include <boxcar/dispatcher/registry/backend_fallbacks.h>
#include <boxcar/dispatcher/registry/runtime_table.h>

#include <utility>

namespace boxcar {
namespace {

using Key = DispatchKey;

constexpr const Kernel* makeDefaultKernel(DispatchKey key) {
  switch (toFunctionalityKey(key)) {
    case Key::BackendSelect:
    case Key::ADInplaceOrView:
    case Key::AutogradOther:
    case Key::AutogradFunctionality:
    case Key::AutogradNestedTensor:
    case Key::AutocastCPU:
    case Key::AutocastXPU:
    case Key::AutocastIPU:
    case Key::AutocastHPU:
    case Key::AutocastXLA:
    case Key::AutocastCUDA:
    case Key::AutocastPrivateUse1:
    case Key::FuncTorchVmapMode:
    case Key::VmapMode: return &detail::kFallthroughKernel;
    case Key::Named: return &detail::kNamedNotSupportedKernel;
    case Key::PreDispatch:
    case Key::Python: return &detail::kModesKernel;
    default: return key == Key::Meta ? &detail::kMissingMetaKernel : &detail::kMissingKernel;
  }
}

constexpr auto makeDefaultKernels() {
  std::array<const Kernel*, num_runtime_entries> kernels{};
  for (size_t i = 0; i < num_runtime_entries; ++i) kernels[i] = makeDefaultKernel(detail::kRuntimeKeys[i]);
  return kernels;
}

constexpr auto kDefaultKernels = makeDefaultKernels();

}  // namespace

const Kernel* defaultKernelOf(DispatchKey key) noexcept { return kDefaultKernels[detail::tableIndexOf(key)]; }

BackendFallbacks::BackendFallbacks()
    : kernels_(kDefaultKernels),
      non_fallthrough_keys_(detail::nonFallthroughKeysOf([this](size_t index) { return kernels_[index]; })) {}

const AnnotatedKernel* BackendFallbacks::find(DispatchKey key) const noexcept {
  const auto& fallback = fallbacks_[detail::tableIndexOf(key)];
  return fallback.has_value() ? &*fallback : nullptr;
}

void BackendFallbacks::add(AnnotatedKernel fallback) {
  const DispatchKey key = fallback.key;
  fallbacks_[detail::tableIndexOf(key)] = std::move(fallback);
  update(key);
}

AnnotatedKernel BackendFallbacks::remove(DispatchKey key) {
  AnnotatedKernel removed = *std::exchange(fallbacks_[detail::tableIndexOf(key)], std::nullopt);
  update(key);
  return removed;
}

void BackendFallbacks::update(DispatchKey key) {
  const AnnotatedKernel* fallback = find(key);
  kernels_[detail::tableIndexOf(key)] = fallback == nullptr ? defaultKernelOf(key) : fallback->table_kernel;
  non_fallthrough_keys_ = detail::nonFallthroughKeysOf([this](size_t index) { return kernels_[index]; });
}

}  // namespace boxcar
