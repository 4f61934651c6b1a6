#include <boxcar/backends/cuda/device.h>
#include <boxcar/backends/cuda/generator.h>
#include <boxcar/backends/cuda/stream.h>
#include <boxcar/backends/native/registration.h>
#include <boxcar/ivalue/cpu_generator.h>
#include <boxcar/ivalue/error.h>

#include <array>
#include <mutex>

namespace boxcar::cuda {
namespace {

constexpr uint64_t kNumbersOfBlock = 4;

// The default generators of the devices. They are created on first use, with the last seed that was set for all of
// them.
struct Defaults {
  std::mutex mutex;
  uint64_t seed = CpuGeneratorImpl::kDefaultSeed;
  std::array<Generator, kMaxDevices> generators;
};
Defaults& defaults() {
  static Defaults& the = *new Defaults;
  return the;
}

// Registers the device's kernels, which a call with such a generator dispatches to.
Generator makeGeneratorOf(Device device, uint64_t seed) {
  const Device complete = completeDevice(device);
  native::registerNativeKernels(DeviceType::CUDA);
  return Generator(makeIntrusive<CudaGeneratorImpl>(complete, seed));
}

const Generator& defaultGeneratorOf(Device device) {
  const Device complete = completeDevice(device);
  const std::lock_guard lock(defaults().mutex);
  Generator& generator = defaults().generators[placeOf(complete.index())];
  if (!generator.defined()) generator = makeGeneratorOf(complete, defaults().seed);
  return generator;
}

void seedDefaults(uint64_t seed) {
  const std::lock_guard lock(defaults().mutex);
  defaults().seed = seed;
  for (const Generator& generator : defaults().generators) {
    if (!generator.defined()) continue;
    const std::lock_guard drawing(generator.mutex());
    generator.set_current_seed(seed);
  }
}

constexpr DeviceGenerators kGenerators = {makeGeneratorOf, defaultGeneratorOf, seedDefaults};

[[maybe_unused]] const bool kGeneratorsLoaded = (setDeviceGenerators(DeviceType::CUDA, &kGenerators), true);

}  // namespace

CudaGeneratorImpl::CudaGeneratorImpl(Device device, uint64_t seed)
    : GeneratorImpl(device, DispatchKeySet(DispatchKey::CUDA)), seed_(seed) {}

void CudaGeneratorImpl::set_current_seed(uint64_t seed) {
  seed_ = seed;
  drawn_ = 0;
}

// A position inside a block, which no call leaves behind, is rounded up to the start of the next block.
void CudaGeneratorImpl::set_state(const GeneratorState& state) {
  seed_ = state.seed;
  drawn_ = 0;
  draw(state.drawn);
}

uint64_t CudaGeneratorImpl::draw(uint64_t count) {
  const uint64_t block = drawn_ / kNumbersOfBlock;
  drawn_ += (count + kNumbersOfBlock - 1) / kNumbersOfBlock * kNumbersOfBlock;
  return block;
}

Draws drawNumbers(const std::optional<Generator>& given, uint64_t count) {
  const Device device(DeviceType::CUDA, static_cast<DeviceIndex>(currentDevice()));
  const Generator& generator = given.has_value() && given->defined() ? *given : defaultGeneratorOf(device);
  auto* const impl = dynamic_cast<CudaGeneratorImpl*>(generator.unsafeGetGeneratorImpl());
  BOXCAR_CHECK(impl != nullptr && impl->device() == device, "Expected a '{}' device type for generator but found '{}'",
               device, generator.device());
  refuseInGraph("draws random numbers, which would be the same in every replay");
  const std::lock_guard lock(impl->mutex());
  return {impl->current_seed(), impl->draw(count)};
}

}  // namespace boxcar::cuda
