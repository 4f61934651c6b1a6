#pragma once

#include <boxcar/backends/functors/images.h>
#include <boxcar/backends/meta/factories.h>
#include <boxcar/backends/meta/spatial.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/ivalue/tensor.h>

#include <cstddef>
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

// Whether the elements of [tensor], [N, C, H, W], lie as in the memory format channels-last. The CPU's kernels do not
// read strides along which there is one element.
inline bool liesChannelsLast(const Tensor& tensor) {
  const auto wanted = meta::stridesIn(MemoryFormat::ChannelsLast, tensor.sizes());
  for (size_t i = 0; i < wanted.size(); ++i) {
    const bool matters = !tensor.is_cpu() || tensor.sizes()[i] != 1;
    if (matters && tensor.strides()[i] != wanted[i]) return false;
  }
  return true;
}

// Returns [tensor] if it has the requested memory format, else a copy.
inline Tensor inFormat(const Tensor& tensor, bool channels_last) {
  if (!channels_last || tensor.is_meta()) return toContiguous(tensor);
  if (liesChannelsLast(tensor)) return tensor;
  Tensor result = meta::allocateSpatial(tensor.sizes(), true, tensor.scalar_type(), tensor.device());
  copyElements(result, tensor);
  return result;
}

}  // namespace boxcar::native
