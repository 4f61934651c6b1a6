#pragma once

#include <cstddef>
#include <cstdint>

// The kernels of convolutions for Winograd's algorithm, vectorised for the CPU that the program runs on.

namespace boxcar::cpu {

// How many output channels are transformed at once.
inline constexpr size_t kWinogradChannels = 16;

// The tiles that an algorithm computes 2x2 or 4x4 pixels from.
enum class WinogradTile : uint8_t { k4x4, k6x6 };

// Transforms 3x3 kernels of 16 output channels, with tap t of channel o at taps[16 * t + o], to as many kernels of the
// tile's size: element e of channel o goes to out[e * step + o]. Both are aligned to 64 bytes, and [step] is a multiple
// of 16. Products are added in the order that oneDNN adds them, without fused multiply-adds, so the bits are the same.
void transformWinograd(WinogradTile tile, const float* taps, float* out, size_t step);

}  // namespace boxcar::cpu
