#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/dispatcher/registry/intercepted_levels.h>
#include <boxcar/dispatcher/registry/registration_lock.h>
#include <boxcar/dispatcher/registry/runtime_table.h>

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace boxcar::detail {
namespace {

constinit LevelUpdater level_updater = {nullptr, nullptr};
constinit std::array<uint32_t, num_functionality_keys> mode_threads = {};
constinit uint64_t intercepted_bits = 0;

void updateLevel(DispatchKey level) {
  for (size_t i = 1; i < num_runtime_entries; ++i) {
    if (toFunctionalityKey(kRuntimeKeys[i]) == level) level_updater.update(level_updater.dispatcher, kRuntimeKeys[i]);
  }
}

}  // namespace

InterceptedKernel::InterceptedKernel(const Kernel* kernel) : Kernel{&runLevelModes, KernelKind::Modes}, inner(kernel) {}

void setLevelUpdater(LevelUpdater updater) noexcept { level_updater = updater; }

bool areLevelsIntercepted() noexcept { return intercepted_bits != 0; }

const Kernel* inFrontOf(const OperatorEntry& entry, size_t index, const Kernel* kernel) {
  if ((intercepted_bits & kFunctionalityBits[index]) == 0) return kernel;
  using Kernels = std::unordered_map<size_t, std::unique_ptr<InterceptedKernel>>;
  static auto& made = *new std::unordered_map<const OperatorEntry*, Kernels>;  // as operators, never freed
  std::unique_ptr<InterceptedKernel>& front = made[&entry][index];
  if (front == nullptr) {
    front = std::make_unique<InterceptedKernel>(kernel);
  } else {
    front->inner.store(kernel, std::memory_order_release);
  }
  return front.get();
}

void interceptLevel(DispatchKey level) {
  (void)Dispatcher::singleton();  // sets the updater
  const RegistrationLock lock(registrationMutex());
  if (mode_threads[static_cast<size_t>(level)]++ != 0) return;
  intercepted_bits |= DispatchKeySet(level).raw_repr();
  updateLevel(level);
}

void releaseLevel(DispatchKey level) noexcept {
  const RegistrationLock lock(registrationMutex());
  if (--mode_threads[static_cast<size_t>(level)] != 0) return;
  intercepted_bits &= ~DispatchKeySet(level).raw_repr();
  updateLevel(level);
}

}  // namespace boxcar::detail
