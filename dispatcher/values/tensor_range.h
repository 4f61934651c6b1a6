#pragma once

#include <boxcar/ivalue/macros.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>
#include <string>

namespace boxcar {

// The number of a tensor's elements that are not finite, and the range of the finite ones. A complex element is NaN if
// one of its parts is, else infinite if one is; for the range its parts count separately.
struct TensorRange {
  int64_t nans = 0;
  int64_t infinities = 0;
  // No element is finite if the first is greater.
  double least = 1;
  double greatest = 0;

  bool isClean() const noexcept { return nans == 0 && infinities == 0; }
};

// Returns the range of a tensor of any dtype, on any device. Bools have no range, and tensors without bytes (undefined,
// meta) count as having no elements.
BOXCAR_API TensorRange rangeOf(const Tensor& tensor);

// Whether all elements are finite: a faster rangeOf(tensor).isClean().
BOXCAR_API bool allFinite(const Tensor& tensor);

// "float32[2, 3], from -1 to 4, clean" or "float32[2], 1 NaN, the finite from 0 to 0".
BOXCAR_API std::string describe(const Tensor& tensor, const TensorRange& range);

// "float32[2, 3]"; "an undefined tensor".
BOXCAR_API std::string typeAndSizes(const Tensor& tensor);

// "1 NaN and 2 Inf"; zero counts are left out.
BOXCAR_API std::string countsText(int64_t nans, int64_t infinities);

}  // namespace boxcar
