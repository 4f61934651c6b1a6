#pragma once

namespace boxcar::functors {

// selu is elu with this alpha and this scale.
inline constexpr double kSeluAlpha = 1.6732632423543772848170429916717;
inline constexpr double kSeluScale = 1.0507009873554804934193349852946;

}  // namespace boxcar::functors
