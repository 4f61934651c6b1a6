#pragma once

#include <boxcar/ivalue/ivalue.h>

#include <optional>
#include <string>

namespace boxcar {

// How far floating point and complex numbers may lie apart: |found - expected| <= atol + rtol * |expected|. Where both
// are 0 their bits must be the same. Integers, bools and all else must be equal in any case; NaN equals NaN.
struct Tolerance {
  double rtol = 0;
  double atol = 0;
  // Whether elements of tensors count at all, beside shape and dtype.
  bool compares_elements = true;

  bool isExact() const noexcept { return rtol == 0 && atol == 0; }
};

// What to call the two sides in texts: "recorded" and "now".
struct SideNames {
  std::string expected;
  std::string found;
};

// In words, where [found] is another value than [expected]: "3 of 6 elements differ, by up to 0.5 at [1, 2]: 1.0
// recorded, 1.5 now". Nothing where they are alike. Devices, strides and identity do not count; tensors lie on any
// device that can copy to the CPU.
std::optional<std::string> differenceOf(const IValue& expected, const IValue& found, const Tolerance& tolerance,
                                        const SideNames& names);

}  // namespace boxcar
