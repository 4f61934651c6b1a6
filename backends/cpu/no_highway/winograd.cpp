#include <boxcar/backends/cpu/vector_winograd.h>
#include <boxcar/backends/cpu/winograd_factors.h>

namespace boxcar::cpu {
namespace {

template <int size>
void transformTile(const float* taps, float* out, size_t step) {
  const auto& g = kWinogradFactors<size>;
  for (size_t o = 0; o < kWinogradChannels; ++o) {
    float rows[3][size];
    for (int k = 0; k < 3; ++k) {
      for (int j = 0; j < size; ++j) {
        rows[k][j] = 0;
        for (int l = 0; l < 3; ++l)
          rows[k][j] += taps[static_cast<size_t>(3 * k + l) * kWinogradChannels + o] * g[j][l];
      }
    }
    for (int i = 0; i < size; ++i) {
      for (int j = 0; j < size; ++j) {
        float sum = 0;
        for (int k = 0; k < 3; ++k) sum += g[i][k] * rows[k][j];
        out[static_cast<size_t>(i * size + j) * step + o] = sum;
      }
    }
  }
}

}  // namespace

void transformWinograd(WinogradTile tile, const float* taps, float* out, size_t step) {
  return tile == WinogradTile::k4x4 ? transformTile<4>(taps, out, step) : transformTile<6>(taps, out, step);
}

}  // namespace boxcar::cpu
