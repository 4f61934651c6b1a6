#pragma once

namespace boxcar::cpu {

// The matrices G of Winograd's algorithm, by which a 3x3 kernel K becomes G K G^T: as oneDNN scales them, for its
// transforms of images are scaled in the opposite way.
template <int size>
inline constexpr float kWinogradFactors[size][3] = {};
template <>
inline constexpr float kWinogradFactors<4>[4][3] = {{1, 0, 0}, {0.5f, 0.5f, 0.5f}, {0.5f, -0.5f, 0.5f}, {0, 0, 1}};
template <>
inline constexpr float kWinogradFactors<6>[6][3] = {{1.13777777777778f, 0, 0},
                                                    {-0.688403361344538f, -0.430252100840336f, -0.26890756302521f},
                                                    {-0.688403361344538f, 0.430252100840336f, -0.26890756302521f},
                                                    {0.119514472455649f, 0.179271708683473f, 0.26890756302521f},
                                                    {0.119514472455649f, -0.179271708683473f, 0.26890756302521f},
                                                    {0, 0, 1}};

}  // namespace boxcar::cpu
