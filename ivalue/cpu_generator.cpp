#include <boxcar/ivalue/cpu_generator.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/twister_jump.h>

namespace boxcar {

CpuGeneratorImpl::CpuGeneratorImpl(uint64_t seed)
    : GeneratorImpl(Device(DeviceType::CPU), DispatchKeySet(DispatchKey::CPU)),
      seed_(seed),
      engine_(static_cast<uint32_t>(seed)) {}

void CpuGeneratorImpl::set_current_seed(uint64_t seed) {
  seed_ = seed;
  engine_.seed(static_cast<uint32_t>(seed));
  drawn_ = 0;
  next_normal_.reset();
}

void CpuGeneratorImpl::set_state(const GeneratorState& state) {
  seedAndJump(engine_, static_cast<uint32_t>(state.seed), state.drawn);
  seed_ = state.seed;
  drawn_ = state.drawn;
  next_normal_ = state.next_normal;
}

GeneratorState GeneratorImpl::state() const {
  BOXCAR_FAIL("the generator of device '{}' cannot tell its position: its class does not override state()", device_);
}

void GeneratorImpl::set_state(const GeneratorState&) {
  BOXCAR_FAIL("the generator of device '{}' cannot be set to a position: its class does not override set_state()",
              device_);
}

Generator makeCpuGenerator(uint64_t seed) { return Generator(makeIntrusive<CpuGeneratorImpl>(seed)); }

const Generator& defaultCpuGenerator() {
  static const Generator generator = makeCpuGenerator();
  return generator;
}

std::string toString(const Generator& generator) {
  if (!generator.defined()) return "Generator(undefined)";
  return fmt::format("Generator(device='{}', seed={})", generator.device(), generator.current_seed());
}

}  // namespace boxcar
