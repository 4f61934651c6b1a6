#pragma once

#include <boxcar/backends/functors/images.h>
#include <boxcar/backends/meta/spatial.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/ivalue/tensor.h>

#include <algorithm>
#include <cstdint>

namespace boxcar::native {

using functors::Images;

// Returns the layout of [tensor], [N, C, H, W] or [C, H, W] or [N, C, W].
inline Images imagesOf(const Tensor& tensor, bool channels_last, size_t spatial = 2) {
  const auto sizes = tensor.sizes();
  const size_t first = sizes.size() - spatial;
  Images images{1, spatial == 2 ? sizes[first] : 1, sizes.back(), channels_last ? sizes[first - 1] : 1};
  for (size_t i = 0; i < first - (channels_last ? 1 : 0); ++i) images.outer *= sizes[i];
  return images;
}

// Returns [tensor] if it has the requested memory format, else a copy.
inline Tensor inFormat(const Tensor& tensor, bool channels_last) {
  if (!channels_last || tensor.is_meta()) return toContiguous(tensor);
  Tensor result = meta::allocateSpatial(tensor.sizes(), true, tensor.scalar_type(), tensor.device());
  if (std::ranges::equal(result.strides(), tensor.strides())) return tensor;
  copyElements(result, tensor);
  return result;
}

}  // namespace boxcar::native
