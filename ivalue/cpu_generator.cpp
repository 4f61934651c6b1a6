#include <boxcar/ivalue/cpu_generator.h>
#include <boxcar/ivalue/text.h>

namespace boxcar {

CpuGeneratorImpl::CpuGeneratorImpl(uint64_t seed)
    : GeneratorImpl(Device(DeviceType::CPU), DispatchKeySet(DispatchKey::CPU)),
      seed_(seed),
      engine_(static_cast<uint32_t>(seed)) {}

void CpuGeneratorImpl::set_current_seed(uint64_t seed) {
  seed_ = seed;
  engine_.seed(static_cast<uint32_t>(seed));
  next_normal_.reset();
}

Generator makeCpuGenerator(uint64_t seed) { return Generator(makeIntrusive<CpuGeneratorImpl>(seed)); }

const Generator& defaultCpuGenerator() {
  static const Generator generator = makeCpuGenerator();
  return generator;
}

void manualSeed(uint64_t seed) {
  const std::lock_guard lock(defaultCpuGenerator().mutex());
  defaultCpuGenerator().set_current_seed(seed);
}

std::string toString(const Generator& generator) {
  if (!generator.defined()) return "Generator(undefined)";
  return fmt::format("Generator(device='{}', seed={})", generator.device(), generator.current_seed());
}

}  // namespace boxcar
