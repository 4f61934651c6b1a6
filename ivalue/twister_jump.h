#pragma once

#include <cstdint>
#include <random>

namespace boxcar {

// Leaves [engine] as it is [drawn] numbers after it was seeded with [seed]. The time grows with the logarithm of
// [drawn]: it is ten milliseconds at most.
void seedAndJump(std::mt19937& engine, uint32_t seed, uint64_t drawn);

}  // namespace boxcar
