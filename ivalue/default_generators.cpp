#include <boxcar/ivalue/cpu_generator.h>
#include <boxcar/ivalue/default_generators.h>
#include <boxcar/ivalue/error.h>

#include <array>
#include <atomic>

namespace boxcar {
namespace {

constexpr DeviceGenerators kCpuGenerators = {
    [](Device, uint64_t seed) { return makeCpuGenerator(seed); },
    [](Device) -> const Generator& { return defaultCpuGenerator(); },
    [](uint64_t seed) {
      const std::lock_guard lock(defaultCpuGenerator().mutex());
      defaultCpuGenerator().set_current_seed(seed);
    },
};

constinit std::array<std::atomic<const DeviceGenerators*>, 32> registered = {&kCpuGenerators};

const DeviceGenerators& generatorsFor(Device device) {
  const DeviceGenerators* generators =
      registered.at(static_cast<size_t>(device.type())).load(std::memory_order_acquire);
  BOXCAR_CHECK(generators != nullptr, "device '{}' has no generators of random numbers: no backend provides one",
               device);
  return *generators;
}

}  // namespace

void setDeviceGenerators(DeviceType type, const DeviceGenerators* generators) {
  registered.at(static_cast<size_t>(type)).store(generators, std::memory_order_release);
}

Generator makeGenerator(Device device, uint64_t seed) { return generatorsFor(device).make(device, seed); }

const Generator& defaultGenerator(Device device) { return generatorsFor(device).default_of(device); }

bool hasGenerators(DeviceType type) {
  return registered.at(static_cast<size_t>(type)).load(std::memory_order_acquire) != nullptr;
}

void manualSeed(uint64_t seed) {
  for (const auto& place : registered) {
    const DeviceGenerators* const generators = place.load(std::memory_order_acquire);
    if (generators != nullptr) generators->seed_defaults(seed);
  }
}

}  // namespace boxcar
