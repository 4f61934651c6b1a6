#pragma once

#include <boxcar/ivalue/macros.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>
#include <string>

namespace boxcar {

// How many of a tensor's elements are no finite numbers, and between which numbers the finite ones lie. A complex
// element is NaN where one of its parts is, else infinite where one is; its parts count for the range one by one.
struct TensorRange {
  int64_t nans = 0;
  int64_t infinities = 0;
  // Nothing is finite where the first is the greater.
  double least = 1;
  double greatest = 0;

  bool isClean() const noexcept { return nans == 0 && infinities == 0; }
};

// Of a tensor of any dtype, on any device; bools have no range, and what has no bytes (undefined, meta) no elements.
BOXCAR_API TensorRange rangeOf(const Tensor& tensor);

// Whether all elements are finite: the quick way to rangeOf(tensor).isClean().
BOXCAR_API bool allFinite(const Tensor& tensor);

// "float32[2, 3], from -1 to 4, clean" or "float32[2], 1 NaN, the finite from 0 to 0".
BOXCAR_API std::string describe(const Tensor& tensor, const TensorRange& range);

// "float32[2, 3]"; "an undefined tensor".
BOXCAR_API std::string typeAndSizes(const Tensor& tensor);

// "1 NaN and 2 Inf"; what there is none of is left out.
BOXCAR_API std::string countsText(int64_t nans, int64_t infinities);

}  // namespace boxcar
