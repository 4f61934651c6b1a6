#include <boxcar/backends/cpu/vector_winograd.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <random>
#include <vector>

namespace boxcar::cpu {
namespace {

// The matrices G of F(2x2, 3x3) and of F(4x4, 3x3), whose rows oneDNN scales.
using Matrix = std::vector<std::array<float, 3>>;
const Matrix kSmall = {{1, 0, 0}, {0.5f, 0.5f, 0.5f}, {0.5f, -0.5f, 0.5f}, {0, 0, 1}};
const Matrix kLarge = {{1.13777777777778f, 0, 0},
                       {-0.688403361344538f, -0.430252100840336f, -0.26890756302521f},
                       {-0.688403361344538f, 0.430252100840336f, -0.26890756302521f},
                       {0.119514472455649f, 0.179271708683473f, 0.26890756302521f},
                       {0.119514472455649f, -0.179271708683473f, 0.26890756302521f},
                       {0, 0, 1}};

void check(WinogradTile tile, const Matrix& g) {
  constexpr size_t kStep = 32;
  alignas(64) float taps[9 * kWinogradChannels];
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  for (float& tap : taps) tap = normal(random);
  for (size_t t = 0; t < 9; ++t) taps[t * kWinogradChannels + 3] = 0;  // a channel of zeros
  const size_t size = g.size();
  alignas(64) float out[36 * kStep];
  std::fill_n(out, 36 * kStep, -1.0f);
  transformWinograd(tile, taps, out, kStep);
  for (size_t o = 0; o < kWinogradChannels; ++o) {
    for (size_t i = 0; i < size; ++i) {
      for (size_t j = 0; j < size; ++j) {
        float sum = 0;
        for (size_t k = 0; k < 3; ++k) {
          float row = 0;
          for (size_t l = 0; l < 3; ++l) row += taps[(3 * k + l) * kWinogradChannels + o] * g[j][l];
          sum += g[i][k] * row;
        }
        const float got = out[(i * size + j) * kStep + o];
        EXPECT_EQ(std::bit_cast<uint32_t>(got), std::bit_cast<uint32_t>(sum)) << i << " " << j << " of " << o;
      }
    }
  }
  for (size_t e = 0; e < size * size; ++e) EXPECT_EQ(out[e * kStep + kWinogradChannels], -1) << "written beside it";
}

TEST(Winograd, KernelsHaveTheBitsOfSumsInOrder) {
  check(WinogradTile::k4x4, kSmall);
  check(WinogradTile::k6x6, kLarge);
}

}  // namespace
}  // namespace boxcar::cpu
