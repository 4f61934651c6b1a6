#pragma once

#include <boxcar/ivalue/generator.h>
#include <boxcar/ivalue/ivalue.h>

#include <span>

namespace boxcar {

// Where a generator stood, and of which device it is.
struct DrawnFrom {
  Device device;
  GeneratorState state;
  bool operator==(const DrawnFrom&) const noexcept = default;
};

// The default generator that a random operator draws from when it is called with [arguments]: that of the device which
// they name, else of their first tensor, else the CPU's, as for devices that have no generators.
Generator usualGeneratorOf(std::span<const IValue> arguments);

// Throws Error where the generator cannot tell.
DrawnFrom standOf(const Generator& generator);

// Puts the default generator of a device where [stood] says.
void goTo(const DrawnFrom& stood);

}  // namespace boxcar
