#pragma once

#include <boxcar/ivalue/generator.h>
#include <boxcar/ivalue/ivalue.h>

#include <span>

namespace boxcar {

// The state of a generator, and its device.
struct DrawnFrom {
  Device device;
  GeneratorState state;
  bool operator==(const DrawnFrom&) const noexcept = default;
};

// Returns the default generator that a random operator draws from when called with [arguments]: that of the device they
// name, else of their first tensor's device, else the CPU's, which also serves devices without generators.
Generator usualGeneratorOf(std::span<const IValue> arguments);

// Throws Error if the generator cannot report its state.
DrawnFrom standOf(const Generator& generator);

// Sets the default generator of a device to the state [stood].
void goTo(const DrawnFrom& stood);

}  // namespace boxcar
