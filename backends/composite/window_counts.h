#pragma once

#include <boxcar/backends/functors/windows.h>
#include <boxcar/ivalue/tensor.h>
#include <boxcar/ops.h>

#include <optional>

namespace boxcar::composite {

// Returns the number of elements of each sliding window along [axis], which is not dilated: those inside the input, or
// with [with_padding] also those in the padding.
inline Tensor windowCounts(const functors::WindowAxis& axis, bool with_padding, Device device) {
  const Tensor numbers = boxcar::arange(axis.out, ScalarType::Long, std::nullopt, device);
  const Tensor begin = boxcar::sub(boxcar::mul(numbers, axis.stride), axis.padding);
  const Tensor end =
      boxcar::clamp_max(boxcar::add(begin, axis.kernel), with_padding ? axis.in + axis.padding : axis.in);
  return boxcar::sub(end, with_padding ? begin : boxcar::clamp_min(begin, 0));
}

}  // namespace boxcar::composite
