#pragma once

#include <cstdint>
#include <random>

namespace boxcar {

// Puts [engine] in its state after it was seeded with [seed] and [drawn] numbers were drawn. The time grows with the
// logarithm of [drawn] and is at most ten milliseconds.
void seedAndJump(std::mt19937& engine, uint32_t seed, uint64_t drawn);

}  // namespace boxcar
