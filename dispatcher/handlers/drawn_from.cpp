#include <boxcar/dispatcher/handlers/drawn_from.h>
#include <boxcar/ivalue/cpu_generator.h>
#include <boxcar/ivalue/default_generators.h>
#include <boxcar/ivalue/error.h>

#include <mutex>

namespace boxcar {
namespace {

Device deviceOf(std::span<const IValue> arguments) {
  for (const IValue& argument : arguments) {
    if (argument.isDevice()) return argument.toDevice();
  }
  for (const IValue& argument : arguments) {
    if (argument.isTensor() && argument.toTensor().defined()) return argument.toTensor().device();
  }
  return DeviceType::CPU;
}

}  // namespace

Generator usualGeneratorOf(std::span<const IValue> arguments) {
  const Device device = deviceOf(arguments);
  if (device.is_cpu() || !hasGenerators(device.type())) return defaultCpuGenerator();
  try {
    return defaultGenerator(device);
  } catch (const Error&) {
    // There is no such device; the call itself will report that better.
    return defaultCpuGenerator();
  }
}

DrawnFrom standOf(const Generator& generator) {
  const std::lock_guard lock(generator.mutex());
  return {generator.device(), generator.unsafeGetGeneratorImpl()->state()};
}

void goTo(const DrawnFrom& stood) {
  const Generator& generator = defaultGenerator(stood.device);
  const std::lock_guard lock(generator.mutex());
  // Setting the state takes time, and often the previous call ended in this state.
  if (generator.unsafeGetGeneratorImpl()->state() == stood.state) return;
  generator.unsafeGetGeneratorImpl()->set_state(stood.state);
}

}  // namespace boxcar
