#pragma once

#include <boxcar/ivalue/ivalue.h>
#include <boxcar/ivalue/macros.h>

#include <optional>
#include <string>

namespace boxcar {

// How far floating-point and complex numbers may differ: |found - expected| <= atol + rtol * |expected|. If rtol and
// atol are both 0, the numbers' bits must be equal. Integers, bools and all else must always be equal; NaN equals NaN.
struct Tolerance {
  double rtol = 0;
  double atol = 0;
  // Whether elements of tensors count at all, besides shape and dtype.
  bool compares_elements = true;

  bool isExact() const noexcept { return rtol == 0 && atol == 0; }
};

// The names of the two sides in texts: "recorded" and "now".
struct SideNames {
  std::string expected;
  std::string found;
};

// Describes how [found] differs from [expected]: "3 of 6 elements differ, by up to 0.5 at [1, 2]: 1.0 recorded, 1.5
// now". Returns no value if they are alike. Devices, strides and identity do not count; tensors may be on any device
// that can copy to the CPU.
BOXCAR_API std::optional<std::string> differenceOf(const IValue& expected, const IValue& found,
                                                   const Tolerance& tolerance, const SideNames& names);

}  // namespace boxcar
