#pragma once

#include <boxcar/ivalue/tensor.h>
#include <boxcar/ops.h>

#include <cstdint>

namespace boxcar::composite {

// How the embeddings of a bag are combined. The values are PyTorch's.
enum class BagMode : int64_t { kSum = 0, kMean = 1, kMax = 2 };

// Returns which of [bags] bags each of [count] indices is in; [offsets] says where they start.
inline Tensor bagsOf(const Tensor& offsets, int64_t count, int64_t bags) {
  const Tensor places = boxcar::arange(count, ScalarType::Long, std::nullopt, offsets.device());
  const Tensor starts = boxcar::contiguous(boxcar::to(boxcar::narrow(offsets, 0, 0, bags), ScalarType::Long));
  return boxcar::sub(boxcar::bucketize(places, starts, /*out_int32=*/false, /*right=*/true), 1);
}

}  // namespace boxcar::composite
